/** The streaming answer: text may come before anyone iterates, and several may iterate. */
import type { ResponseResult, ResponseStream } from './types.js';

export function responseStream(run: (onText: (delta: string) => void) => Promise<ResponseResult>): ResponseStream {
  const deltas: string[] = [];
  let ended = false;
  let wake: (() => void)[] = [];
  const notify = (): void => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };

  const result = (async () => {
    try {
      const response = await run((delta) => {
        deltas.push(delta);
        notify();
      });
      // No model, or one that cannot stream: the whole text is the one piece.
      if (deltas.length === 0 && response.text !== '') deltas.push(response.text);
      return response;
    } finally {
      ended = true;
      notify();
    }
  })();
  // Whoever only iterates meets the error there; it must not count as unhandled here.
  result.catch(() => undefined);

  return {
    result,
    async *[Symbol.asyncIterator]() {
      for (let at = 0; ; ) {
        while (at < deltas.length) yield deltas[at++] as string;
        if (ended) break;
        await new Promise<void>((resolve) => wake.push(resolve));
      }
      await result;
    },
  };
}
