/** The core's outside world, made of calls that are answered in the page. */
import type { WriteBatch } from '../storage/types.js';
import type { Host } from './contract.js';
import type { Args, EngineOpenOptions, HostCalls, Result } from './protocol.js';

export type CallHost = <M extends keyof HostCalls>(method: M, args: Args<HostCalls, M>) => Promise<Result<HostCalls, M>>;

/** Offers the core no more than the caller gave. */
export function bridge(options: EngineOpenOptions, call: CallHost, { now, emit }: Pick<Host, 'now' | 'emit'>): Host {
  const host: Host = { now, emit };
  if (options.chatModel !== null) host.chat = (request, callId) => call('chat', [request, callId]);
  if (options.embedder) host.embed = (request) => call('embed', [request]);
  if (options.countsTokens) host.count = (texts) => call('count', [texts]);
  if (options.retrievers.length > 0) host.rank = (request) => call('rank', [request]);
  if (options.storage === 'host') {
    host.read = (range) => call('read', [range]);
    host.commit = (batch) => call('commit', [ownBuffers(batch)]);
  }
  return host;
}

/** Structured clone of a view copies the whole buffer behind it, which may be all of wasm memory. */
function ownBuffers(batch: WriteBatch): WriteBatch {
  const whole = (bytes: Uint8Array): Uint8Array => (bytes.byteLength === bytes.buffer.byteLength ? bytes : bytes.slice());
  return { ...batch, puts: batch.puts.map((put) => ({ ...put, value: whole(put.value) })) };
}
