/** What a page asks of the worker that has its files open. */
import type { LogOptions } from '../log/store.js';
import type { KeyRange, WriteBatch } from '../types.js';

export interface OpfsSettings extends LogOptions {
  folder: string;
  waitMs: number;
}

export interface OpfsCalls {
  open: { args: [settings: OpfsSettings, name: string]; result: void };
  read: { args: [range: KeyRange]; result: { key: string; value: Uint8Array }[] };
  commit: { args: [batch: WriteBatch]; result: void };
  compact: { args: []; result: void };
  close: { args: []; result: void };
}
