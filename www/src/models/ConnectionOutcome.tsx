import type { ConnectionResult } from 'memstrata/providers';
import { showCount, t } from '../i18n/language';

export type Attempt = { step: 'none' } | { step: 'testing' } | { step: 'done'; result: ConnectionResult; model: string };

/** What a test of the connection came to: said when it comes, with cause and remedy where it failed. */
export function ConnectionOutcome({ attempt }: { attempt: Attempt }) {
  const words = t.value;
  const result = attempt.step === 'done' ? attempt.result : undefined;
  const step = attempt.step !== 'done' ? attempt.step : attempt.result.ok ? 'ok' : 'failed';
  return (
    <>
      <p role="status" data-testid="model-outcome" data-step={step}>
        {attempt.step === 'testing' && words.testing}
        {result?.ok && `${words.testOk(showCount(result.ms))}${result.outputMode ? ` ${words.outputModes[result.outputMode]}` : ''}`}
      </p>
      {attempt.step === 'done' && result && !result.ok && (
        <div class="trouble" role="alert" data-testid="model-trouble" data-cause={result.cause}>
          <p class="trouble-title">{words.testFailed}</p>
          <p>
            <b>{words.connection[result.cause].cause}</b> {words.connection[result.cause].remedy(location.origin, attempt.model)}
          </p>
          <details>
            <summary>{words.details}</summary>
            <code>{result.message}</code>
          </details>
        </div>
      )}
    </>
  );
}
