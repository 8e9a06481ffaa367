/** Imports a conversation in durable batches, with progress and a way to stop. */
import type { WasmAddInput } from '../engine/contract.js';
import { aborted, invalid, isMemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { AddMemoryResult, ImportProgress, ImportResult, ImportTurn } from '../types.js';

/** How an import reports and is stopped. */
export interface ImportOptions {
  /** Called after each batch; `total` grows when the turns come from a stream. */
  onProgress?: (progress: ImportProgress) => void;
  /** Stops after the running batch: what was stored stays. */
  signal?: AbortSignal;
}

interface Sink {
  /** Lent, so that this file, which is loaded when it is needed, brings nothing of its own along. */
  readTurn(turn: unknown): WasmAddInput;
  addMany(inputs: WasmAddInput[]): Promise<AddMemoryResult[]>;
}

/** A batch is one transaction: large enough to be quick, small enough for progress. */
const BATCH_TURNS = 32;
const BATCH_CHARS = 200_000;

export async function importTurns(turns: Iterable<ImportTurn> | AsyncIterable<ImportTurn>, { onProgress, signal }: ImportOptions, sink: Sink): Promise<ImportResult> {
  if (typeof turns !== 'object' || turns === null || !(Symbol.iterator in turns || Symbol.asyncIterator in turns)) {
    throw invalid(`importConversation takes a list of turns, got ${show(turns)}`);
  }
  const known = Array.isArray(turns) ? turns.length : undefined;
  const result: ImportResult = { added: 0, duplicates: 0, skipped: [] };
  let batch: { index: number; input: WasmAddInput }[] = [];
  let chars = 0;
  let index = 0;

  const count = (added: AddMemoryResult[]): void => {
    for (const { status } of added) {
      if (status === 'stored') result.added++;
      else result.duplicates++;
    }
  };
  const store = async (): Promise<void> => {
    const full = batch;
    batch = [];
    chars = 0;
    if (signal?.aborted) throw aborted(signal);
    if (full.length > 0) {
      try {
        count(await sink.addMany(full.map((entry) => entry.input)));
      } catch (error) {
        if (!isRefusal(error)) throw error;
        // The core refused one of them: one bad turn must not cost its neighbours.
        for (const entry of full) {
          await sink.addMany([entry.input]).then(count, (reason: unknown) => {
            if (!isRefusal(reason)) throw reason;
            result.skipped.push({ index: entry.index, reason: reason.message });
          });
        }
      }
    }
    onProgress?.({ done: index, total: known ?? index });
  };

  for await (const turn of turns) {
    try {
      const input = sink.readTurn(turn);
      // Unknown, not now: an old conversation without dates did not happen today.
      if ((turn as ImportTurn).timestamp === undefined) Object.assign(input, { epochMs: null, offsetMinutes: 0 });
      batch.push({ index, input });
      chars += input.userInput.length + input.agentResponse.length;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      result.skipped.push({ index, reason: error.message });
    }
    index++;
    if (batch.length >= BATCH_TURNS || chars >= BATCH_CHARS) await store();
  }
  await store();
  result.skipped.sort((a, b) => a.index - b.index);
  return result;
}

function isRefusal(error: unknown): error is Error {
  return isMemoryOSError(error) && error.code === 'INVALID_ARGUMENT';
}
