/** An exported file in whatever form the caller holds it. */
import { invalid, toMemoryOSError } from '../errors.js';
import { show } from '../text.js';

/** `File` is a `Blob`. */
export type ByteSource = Uint8Array | ArrayBuffer | Blob | ReadableStream<Uint8Array>;

export async function readBytes(source: ByteSource): Promise<Uint8Array> {
  if (source instanceof Uint8Array) return source;
  if (source instanceof ArrayBuffer) return new Uint8Array(source);
  const stream = typeof Blob !== 'undefined' && source instanceof Blob ? source : isStream(source) ? new Response(source as ReadableStream<Uint8Array<ArrayBuffer>>) : undefined;
  if (!stream) throw invalid(`importFrom takes bytes, a Blob, a File or a ReadableStream, got ${show(source)}`);
  try {
    return new Uint8Array(await stream.arrayBuffer());
  } catch (error) {
    throw toMemoryOSError(error, 'INVALID_ARGUMENT');
  }
}

function isStream(source: unknown): source is ReadableStream<Uint8Array> {
  return typeof source === 'object' && source !== null && typeof (source as ReadableStream).getReader === 'function';
}
