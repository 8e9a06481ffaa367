import { t } from '../i18n/language';
import { status } from '../memory/open';
import { tiers } from '../memory/view';
import { Card } from './Card';
import { Drawing } from './Drawing';
import { HeatScale } from './HeatScale';
import { Outline } from './Outline';
import { asList, held, selected } from './selection';

export function Strata() {
  const words = t.value;
  const view = tiers.value;
  return (
    <div
      class="strata"
      data-testid="strata"
      onPointerLeave={() => {
        if (!held.value) selected.value = null;
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') {
          held.value = false;
          selected.value = null;
        }
      }}
    >
      <div class="bar">
        <h2>{words.strataTitle}</h2>
        <div class="segmented" role="group" aria-label={words.viewAs}>
          <button type="button" aria-pressed={!asList.value} onClick={() => (asList.value = false)}>{words.picture}</button>
          <button type="button" aria-pressed={asList.value} onClick={() => (asList.value = true)}>{words.list}</button>
        </div>
      </div>
      {view ? asList.value ? <Outline view={view} /> : <Drawing view={view} /> : <p class="quiet pad">{status.value === 'failed' ? words.openFailed : words.readingMemory}</p>}
      {view && !asList.value && view.midTerm.length + view.archive.length > 0 && <HeatScale tau={view.heatThreshold} />}
      {!asList.value && <Card />}
    </div>
  );
}
