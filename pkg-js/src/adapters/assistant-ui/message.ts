/** Messages of a thread, and what of them a page keeps. */
import type { ContentPart, Metadata, MetadataValue } from '../../types.js';
import type { MessageLike } from './types.js';

/** Metadata key of a page: where it stands in its thread. */
export const THREAD = 'thread';
/** Key in a message's own metadata: the memory has stored it already. */
export const STORED = 'memstrata';

export function textOf({ content }: Pick<MessageLike, 'content'>): string {
  return content.flatMap((part) => ('text' in part && part.type === 'text' ? [String(part.text)] : [])).join('\n');
}

/** Text and files of a message, its attachments too. Reasoning, calls of tools and their results are left out. */
export function partsOf({ content, attachments = [] }: MessageLike): ContentPart[] {
  const parts = [...content, ...attachments.flatMap((attachment) => attachment.content ?? [])];
  return parts.filter(({ type }) => type === 'text' || type === 'image' || type === 'file' || type === 'audio').map((part) => ({ ...part }) as ContentPart);
}

export function place(parent: string | null, answer: string | undefined): Metadata {
  return { [THREAD]: { parent, answer: answer ?? null } };
}

export function placeOf(metadata: Metadata): { parent: string | null; answer: string | null } {
  const at = metadata[THREAD];
  const id = (value: MetadataValue | undefined): string | null => (typeof value === 'string' ? value : null);
  if (typeof at !== 'object' || at === null || Array.isArray(at)) return { parent: null, answer: null };
  return { parent: id(at.parent), answer: id(at.answer) };
}
