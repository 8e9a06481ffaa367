import { t } from '../i18n/language';
import { chatOn, endpoint } from '../models/choice';
import { go } from '../shell/places';

/** Says plainly who answers. */
export function Mode() {
  const words = t.value;
  const model = chatOn.value ? endpoint.value?.model : undefined;
  return (
    <p class="mode" data-testid="mode" data-mode={model === undefined ? 'memory-only' : 'model'}>
      {model === undefined ? (
        <>
          <b>{words.modeMemoryOnly}.</b> {words.modeMemoryOnlyWhy}{' '}
          <button type="button" class="link" onClick={() => go('models')}>
            {words.setModel}
          </button>
        </>
      ) : (
        <b>{words.modeModel(model)}</b>
      )}
    </p>
  );
}
