import { showHeat, t } from '../i18n/language';
import { heatTicks } from './heat';

/** The legend of the picture: which colour is which heat. */
export function HeatScale({ tau }: { tau: number }) {
  const words = t.value;
  const ticks = heatTicks(tau).map((heat, index, all) => {
    if (heat === tau) return words.threshold(showHeat(heat));
    return index === all.length - 1 ? words.andOver(showHeat(heat)) : showHeat(heat);
  });
  return (
    <div class="heat-scale" role="img" aria-label={words.heatScale(ticks.join(', '))} data-testid="heat-scale">
      <span class="heat-scale-name">{words.heat}</span>
      <div class="heat-scale-bar">
        <div class="heat-scale-ramp" />
        {ticks.map((tick) => (
          <span key={tick}>{tick}</span>
        ))}
      </div>
    </div>
  );
}
