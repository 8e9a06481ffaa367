import { useEffect, useState } from 'preact/hooks';
import { showBytes, t } from '../i18n/language';
import { stats } from '../memory/view';

interface Used {
  usage: number | undefined;
  quota: number | undefined;
  persisted: boolean | undefined;
}

/** What the browser says about the room this memory takes, and whether it promises to keep it. */
export function Storage() {
  const [used, setUsed] = useState<Used | null>(null);
  const [refused, setRefused] = useState(false);
  const words = t.value;
  const now = stats.value;

  const read = async (): Promise<void> => {
    // Absent where the page is not served from a secure origin.
    const storage = navigator.storage as StorageManager | undefined;
    const [estimate, persisted] = await Promise.all([storage?.estimate?.(), storage?.persisted?.()]);
    setUsed({ usage: estimate?.usage, quota: estimate?.quota, persisted });
  };
  useEffect(() => {
    void read();
  }, [now?.pages, now?.writtenBytes]);

  return (
    <section>
      <h3>{words.storageTitle}</h3>
      <dl class="facts">
        <div>
          <dt>{words.storageUsed}</dt>
          <dd>{used?.usage === undefined ? words.storageUnknown : used.quota === undefined ? showBytes(used.usage) : words.storageOf(showBytes(used.usage), showBytes(used.quota))}</dd>
        </div>
        {now && (
          <div>
            <dt>{words.storageMemory}</dt>
            <dd>{showBytes(now.storage.walBytes + now.storage.chunkBytes)}</dd>
          </div>
        )}
        <div>
          <dt>{words.storagePersisted}</dt>
          <dd>
            {used?.persisted === undefined ? words.storageUnknown : used.persisted ? words.persistedYes : words.persistedNo}
            {used?.persisted === false && (
              <button
                type="button"
                class="link"
                onClick={() =>
                  void navigator.storage.persist().then((granted) => {
                    setRefused(!granted);
                    return read();
                  })
                }
              >
                {words.persist}
              </button>
            )}
          </dd>
        </div>
      </dl>
      <p role="status" class="quiet">{refused && words.persistRefused}</p>
    </section>
  );
}
