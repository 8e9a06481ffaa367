import type { SegmentView } from 'memstrata';
import { showScore, t } from '../i18n/language';
import { heatColour } from './heat';

/** Heat with its number and the three terms it is the sum of. */
export function HeatTerms({ segment, tau }: { segment: SegmentView; tau: number }) {
  const { heat } = segment;
  const words = t.value;
  return (
    <dl class="heat-terms">
      <div class="total">
        <dt>{words.heat}</dt>
        <dd>
          <span class="swatch" style={{ background: heatColour(heat.value, tau) }} aria-hidden="true" />
          {showScore(heat.value, tau)}
        </dd>
      </div>
      <div>
        <dt>{words.nVisit}</dt>
        <dd>{showScore(heat.nVisit)}</dd>
      </div>
      <div>
        <dt>{words.lInteraction}</dt>
        <dd>{showScore(heat.lInteraction)}</dd>
      </div>
      <div>
        <dt>{words.rRecency}</dt>
        <dd>{showScore(heat.rRecency)}</dd>
      </div>
    </dl>
  );
}
