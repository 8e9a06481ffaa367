import type { Metadata } from 'memstrata';
import { keptAddress } from '../sites';
import { t } from '../words';
import { showTime } from './time';

/** Whose a memory is and when it was said. An address is a link only if it is one of the web. */
export function Origin({ speaker, time, metadata }: { speaker: string; time: number | null; metadata: Metadata }) {
  const { url, title } = metadata;
  const address = metadata.origin === 'web' && typeof url === 'string' ? keptAddress(url) : undefined;
  return (
    <p class="quiet origin">
      {address ? (
        <>
          {t('from')} <a href={address.href} target="_blank" rel="noopener noreferrer" dir="auto">{typeof title === 'string' && title !== '' ? title : address.host}</a>{' '}
          <span>{address.host}</span>
        </>
      ) : (
        <b>{speaker === '' || speaker === 'user' ? t('you') : speaker === 'assistant' ? t('assistant') : speaker}</b>
      )}{' '}
      <time>{showTime(time)}</time>
    </p>
  );
}
