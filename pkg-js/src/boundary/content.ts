/** Message content: a string, or the parts that chat APIs send. */
import { invalid } from '../errors.js';
import { show, wellFormed } from '../text.js';
import type { Metadata, MetadataValue } from '../types.js';

export interface Content {
  text: string;
  /** What was not text: its type and where it is, never its bytes. */
  references: Metadata[];
}

/** A longer string inside a part is the thing itself (a data URL, base64), not a reference to it. */
const MAX_REFERENCE_CHARS = 2_000;

/** `undefined` and `null` are an empty side: assistants that only call tools send `null`. */
export function readContent(value: unknown, name: string): Content {
  if (value === undefined || value === null) return { text: '', references: [] };
  if (typeof value === 'string') return { text: wellFormed(value), references: [] };
  if (!Array.isArray(value)) throw invalid(`${name} must be a string or a list of parts, got ${show(value)}`);
  const texts: string[] = [];
  const references: Metadata[] = [];
  value.forEach((part: unknown, at) => {
    if (typeof part === 'string') texts.push(wellFormed(part));
    else if (typeof part !== 'object' || part === null) throw invalid(`${name}[${at}] must be a part with a type, got ${show(part)}`);
    else if ('text' in part && typeof part.text === 'string') texts.push(wellFormed(part.text));
    else references.push(describe(part, 0) as Metadata);
  });
  return { text: texts.join('\n'), references };
}

function describe(value: unknown, depth: number): MetadataValue {
  if (typeof value === 'string') {
    if (value.length <= MAX_REFERENCE_CHARS) return wellFormed(value);
    const kind = /^data:([\w.+-]+\/[\w.+-]+)?/.exec(value)?.[0];
    return `${kind ?? 'text'} of ${value.length} characters, not kept`;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value === 'boolean') return value;
  // Blobs, buffers and anything else that is not plain is named by its kind.
  if (typeof value !== 'object' || value === null || depth > 3) return null;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `${value.byteLength} bytes, not kept`;
  if (Array.isArray(value)) return value.slice(0, 20).map((item) => describe(item, depth + 1));
  return Object.fromEntries(Object.entries(value).slice(0, 20).map(([key, item]) => [key, describe(item, depth + 1)]));
}
