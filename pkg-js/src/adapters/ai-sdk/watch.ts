/** Looks on while a stream is read: what text came, and how it ended. */
import { reasonOf } from './prompt.js';

export interface Seen {
  text: string;
  /** `undefined` where the stream was cut before its end. */
  reason: string | undefined;
}

/** The same stream. `ended` is called once and awaited before the stream closes, fails or is given up. */
export function watched<T>(stream: ReadableStream<T>, signal: AbortSignal | undefined, ended: (seen: Seen) => Promise<void>): ReadableStream<T> {
  const reader = stream.getReader();
  const texts = new Map<string, string>();
  let reason: string | undefined;
  let failed = false;
  let end: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal?.removeEventListener('abort', close);
    end ??= ended({ text: [...texts.values()].filter(Boolean).join('\n'), reason: failed ? undefined : reason });
    return end;
  };
  // A reader that is aborted may just stop reading.
  signal?.addEventListener('abort', close, { once: true });

  const look = (part: { type?: unknown; id?: unknown; delta?: unknown; finishReason?: unknown }): void => {
    if (part.type === 'text-delta') texts.set(String(part.id), (texts.get(String(part.id)) ?? '') + String(part.delta));
    else if (part.type === 'finish') reason = reasonOf(part.finishReason);
    else if (part.type === 'error') failed = true;
  };
  return new ReadableStream<T>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) {
          look(value as object);
          controller.enqueue(value);
          return;
        }
      } catch (error) {
        failed = true;
        await close();
        controller.error(error);
        return;
      }
      await close();
      controller.close();
    },
    async cancel(cause) {
      await Promise.all([close(), reader.cancel(cause)]);
    },
  }, { highWaterMark: 0 });
}
