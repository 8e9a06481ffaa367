/** Cuts a file into its records as it comes: entries of a list, lines, or the one value that it is. Only one record is held at a time. */
import type { ByteSource } from '../boundary/bytes.js';
import { invalid, toMemoryOSError } from '../errors.js';
import { show } from '../text.js';

/** A file to import: text, bytes, a Blob or a stream of bytes. */
export type FileSource = string | ByteSource;

export interface SourceLimits {
  /** Bytes of the file. */
  bytes: number;
  /** Characters of one record: a conversation, a line, or a file that is one object. */
  recordChars: number;
}

/** `place` says where it stands in the file; what could not be read has `error` instead of a value. */
export type FileRecord = { place: string; value: unknown } | { place: string; error: string };

export async function* recordsOf(source: FileSource, limits: SourceLimits): AsyncGenerator<FileRecord> {
  const pieces = textOf(source, limits.bytes);
  try {
    // Not by a loop: leaving one ends what it reads from.
    let start = '';
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
      start = (start + next.value).trimStart();
      if (start !== '') break;
    }
    if (start.startsWith('[')) yield* entries(joined(start, pieces), limits);
    else if (start !== '') yield* linesOrWhole(joined(start, pieces), limits);
  } finally {
    await pieces.return(undefined);
  }
}

async function* joined(first: string, rest: AsyncIterable<string>): AsyncGenerator<string> {
  if (first !== '') yield first;
  yield* rest;
}

/** A piece of the text at a time. */
async function* textOf(source: FileSource, maxBytes: number): AsyncGenerator<string> {
  if (typeof source === 'string') {
    if (source.length > maxBytes) throw tooLarge(maxBytes);
    yield source;
    return;
  }
  const decoder = new TextDecoder();
  let bytes = 0;
  for await (const piece of bytesOf(source)) {
    bytes += piece.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    yield decoder.decode(piece, { stream: true });
  }
  yield decoder.decode();
}

async function* bytesOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  if (source instanceof Uint8Array) return yield source;
  if (source instanceof ArrayBuffer) return yield new Uint8Array(source);
  const stream = typeof Blob !== 'undefined' && source instanceof Blob ? source.stream() : source as ReadableStream<Uint8Array>;
  if (typeof (stream as Partial<ReadableStream> | null)?.getReader !== 'function') throw invalid(`importFile takes text, bytes, a Blob, a File or a ReadableStream, got ${show(source)}`);
  // Not every browser lets a stream be iterated.
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (error) {
    throw toMemoryOSError(error, 'INVALID_ARGUMENT');
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** The entries of a list at the top, each parsed by itself. */
async function* entries(pieces: AsyncIterable<string>, { recordChars }: SourceLimits): AsyncGenerator<FileRecord> {
  let [depth, inString, escaped, index, held, tooLong] = [0, false, false, 0, '', false];
  const finish = (): FileRecord | undefined => {
    const [text, long, place] = [held.trim(), tooLong, `[${index}]`];
    [held, tooLong] = ['', false];
    if (text === '' && !long) return undefined;
    index++;
    return long ? { place, error: tooLongWords(recordChars) } : parsed(text, place);
  };
  for await (const piece of pieces) {
    let from = 0;
    const keep = (to: number): void => {
      if (!tooLong) held += piece.slice(from, to);
      if (held.length > recordChars) [held, tooLong] = ['', true];
      from = to;
    };
    for (let at = 0; at < piece.length; at++) {
      const char = piece.charCodeAt(at);
      if (inString) {
        if (escaped) escaped = false;
        else if (char === BACKSLASH) escaped = true;
        else if (char === QUOTE) inString = false;
      } else if (char === QUOTE) {
        inString = true;
      } else if (char === OPEN_LIST || char === OPEN_OBJECT) {
        if (depth++ === 0) from = at + 1;
      } else if (char === CLOSE_LIST || char === CLOSE_OBJECT || (char === COMMA && depth === 1)) {
        const ends = char === COMMA || depth === 1;
        if (char !== COMMA) depth--;
        if (!ends) continue;
        keep(at);
        from = at + 1;
        const record = finish();
        if (record) yield record;
        if (depth === 0) return;
      }
    }
    if (depth > 0) keep(piece.length);
  }
  yield { place: `[${index}]`, error: 'the file ends in the middle of the list' };
}

/** Lines of JSON, or one value over many lines: the first line tells. */
async function* linesOrWhole(pieces: AsyncIterable<string>, { recordChars }: SourceLimits): AsyncGenerator<FileRecord> {
  const first = await firstLine(pieces, recordChars);
  if (first.rest !== '' && 'value' in parsed(first.line, '')) {
    yield parsed(first.line, 'line 1');
    yield* lines(joined(first.rest, first.pieces), recordChars);
    return;
  }
  let whole = first.line + first.rest;
  for await (const piece of first.pieces) {
    whole += piece;
    if (whole.length > recordChars) throw invalid(`the file is one object of more than ${recordChars} characters: raise limits.recordChars, or split it`);
  }
  yield parsed(whole, '');
}

async function firstLine(pieces: AsyncIterable<string>, recordChars: number): Promise<{ line: string; rest: string; pieces: AsyncIterable<string> }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const remaining: AsyncIterable<string> = { [Symbol.asyncIterator]: () => iterator };
  let held = '';
  for (;;) {
    const end = held.indexOf('\n');
    // Something must follow the line for it to be one of several.
    if (end >= 0 && held.slice(end).trim() !== '') return { line: held.slice(0, end), rest: held.slice(end + 1), pieces: remaining };
    const { done, value } = await iterator.next();
    if (done) return { line: held, rest: '', pieces: remaining };
    held += value;
    if (held.length > recordChars && held.indexOf('\n') < 0) throw invalid(`the first line has more than ${recordChars} characters: raise limits.recordChars, or split the file`);
  }
}

async function* lines(pieces: AsyncIterable<string>, recordChars: number): AsyncGenerator<FileRecord> {
  let [held, number, tooLong] = ['', 2, false];
  const finish = (): FileRecord | undefined => {
    const [line, place, long] = [held.trim(), `line ${number++}`, tooLong];
    [held, tooLong] = ['', false];
    if (long) return { place, error: tooLongWords(recordChars) };
    return line === '' ? undefined : parsed(line, place);
  };
  for await (const piece of pieces) {
    const parts = piece.split('\n');
    for (const [at, part] of parts.entries()) {
      if (!tooLong) held += part;
      if (held.length > recordChars) [held, tooLong] = ['', true];
      const record = at < parts.length - 1 ? finish() : undefined;
      if (record) yield record;
    }
  }
  const record = finish();
  if (record) yield record;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

function parsed(text: string, place: string): FileRecord {
  try {
    return { place, value: JSON.parse(text) };
  } catch (error) {
    return { place, error: `it is not JSON: ${(error as Error).message}` };
  }
}

function tooLongWords(recordChars: number): string {
  return `it has more than ${recordChars} characters: raise limits.recordChars`;
}

function tooLarge(bytes: number): Error {
  return invalid(`the file is larger than ${bytes} bytes: raise limits.bytes, or split it`);
}
