/**
 * The server's side of the Model Context Protocol, as far as tools go: revisions 2024-11-05 to 2025-11-25, which begin with
 * `initialize`, and 2026-07-28, where each request says its revision. It knows nothing of streams: messages come in as they
 * were parsed, answers go out by `send`.
 */
import { isMemoryOSError, toMemoryOSError } from '../errors.js';
import type { MemoryOSError } from '../errors.js';
import type { Tool, ToolCall } from '../tools/index.js';

/** Those that begin with `initialize`, newest first. */
export const HANDSHAKE_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];
/** Those that need none. */
export const ENVELOPE_VERSIONS = ['2026-07-28'];

const ENVELOPE_VERSION = 'io.modelcontextprotocol/protocolVersion';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;
const UNSUPPORTED_VERSION = -32_022;

export type Json = { [key: string]: unknown };
type Id = string | number;

/** Who the server is, its tools, and what carries them out. */
export interface McpServerOptions {
  name: string;
  version: string;
  instructions: string;
  tools: readonly Tool[];
  /** Runs a tool; what it throws becomes the answer's text. */
  call(tool: Tool, args: unknown, call: ToolCall): Promise<Json>;
  send(message: Json | Json[]): void;
}

/** What ends a request with an error of the protocol, rather than of a tool. */
class Refusal extends Error {
  constructor(readonly code: number, message: string, readonly data?: unknown) {
    super(message);
  }
}

/** Answers the messages of one client. It knows no streams: `receive` takes a message, `send` of the options gets the answers. */
export class McpServer {
  readonly #options: McpServerOptions;
  readonly #running = new Map<Id, AbortController>();
  readonly #settled = new Set<Promise<void>>();

  constructor(options: McpServerOptions) {
    this.#options = options;
  }

  /** Takes one message, or a list of them as revision 2025-03-26 allows. */
  receive(message: unknown): void {
    const answering = Array.isArray(message) ? this.#receiveMany(message) : this.#receiveOne(message).then((answer) => answer && this.#options.send(answer));
    const settled = answering.then(() => undefined).finally(() => this.#settled.delete(settled));
    this.#settled.add(settled);
  }

  /** For a line that is no JSON. */
  receiveBroken(reason: string): void {
    this.#options.send(failure(null, new Refusal(PARSE_ERROR, reason)));
  }

  /** Resolves once every request that has come is answered. */
  async idle(): Promise<void> {
    while (this.#settled.size > 0) await Promise.allSettled(this.#settled);
  }

  /** Stops what runs; nothing of it is answered. */
  cancelAll(): void {
    for (const controller of this.#running.values()) controller.abort();
  }

  async #receiveMany(messages: unknown[]): Promise<void> {
    if (messages.length === 0) return this.#options.send(failure(null, new Refusal(INVALID_REQUEST, 'a batch must hold a message')));
    const answers = (await Promise.all(messages.map((message) => this.#receiveOne(message)))).filter((answer) => answer !== undefined);
    if (answers.length > 0) this.#options.send(answers);
  }

  async #receiveOne(message: unknown): Promise<Json | undefined> {
    if (!isObject(message) || message.jsonrpc !== '2.0') return failure(null, new Refusal(INVALID_REQUEST, 'a message must be an object of JSON-RPC 2.0'));
    const { id, method, params = {} } = message;
    if (typeof method !== 'string') {
      // An answer: this server asks nothing.
      return 'result' in message || 'error' in message ? undefined : failure(isId(id) ? id : null, new Refusal(INVALID_REQUEST, 'a request must name its method'));
    }
    if (id === undefined) return this.#notified(method, params);
    if (!isId(id)) return failure(null, new Refusal(INVALID_REQUEST, 'an id must be a text or a number'));
    if (this.#running.has(id)) return failure(id, new Refusal(INVALID_REQUEST, `a request with the id ${JSON.stringify(id)} is running`));
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      const result = await this.#answer(method, params, controller.signal);
      // A cancelled request is not answered, also when it came to its end.
      return controller.signal.aborted ? undefined : { jsonrpc: '2.0', id, result };
    } catch (error) {
      return controller.signal.aborted ? undefined : failure(id, error);
    } finally {
      this.#running.delete(id);
    }
  }

  #notified(method: string, params: unknown): undefined {
    if (method !== 'notifications/cancelled' || !isObject(params) || !isId(params.requestId)) return;
    this.#running.get(params.requestId)?.abort();
  }

  async #answer(method: string, params: unknown, signal: AbortSignal): Promise<Json> {
    if (!isObject(params)) throw new Refusal(INVALID_PARAMS, 'params must be an object');
    const version = isObject(params._meta) ? params._meta[ENVELOPE_VERSION] : undefined;
    const enveloped = version !== undefined;
    if (enveloped && !ENVELOPE_VERSIONS.includes(version as string)) {
      throw new Refusal(UNSUPPORTED_VERSION, `protocol version ${String(version)} is not supported`, { supported: [...ENVELOPE_VERSIONS, ...HANDSHAKE_VERSIONS], requested: version });
    }
    if (enveloped) return this.#enveloped(method, params, signal);
    switch (method) {
      case 'initialize': return this.#initialize(params);
      case 'ping': return {};
      case 'tools/list': return this.#list(params);
      case 'tools/call': return this.#call(params, signal);
      default: throw new Refusal(METHOD_NOT_FOUND, `there is no method ${method}`);
    }
  }

  async #enveloped(method: string, params: Json, signal: AbortSignal): Promise<Json> {
    const complete = (result: Json): Json => ({ resultType: 'complete', ...result, _meta: { ...(result._meta as Json | undefined), [SERVER_INFO]: this.#info() } });
    // What the server offers does not change while it runs, and tells nothing of the user.
    const cacheable = { ttlMs: 3_600_000, cacheScope: 'public' };
    switch (method) {
      case 'server/discover': return complete({ supportedVersions: [...ENVELOPE_VERSIONS, ...HANDSHAKE_VERSIONS], ...this.#offer(), ...cacheable });
      case 'tools/list': return complete({ ...this.#list(params), ...cacheable });
      case 'tools/call': return complete(await this.#call(params, signal));
      default: throw new Refusal(METHOD_NOT_FOUND, `there is no method ${method}`);
    }
  }

  #initialize({ protocolVersion }: Json): Json {
    if (typeof protocolVersion !== 'string') throw new Refusal(INVALID_PARAMS, 'protocolVersion must be a text');
    // A client that cannot work with the answer goes away.
    const version = HANDSHAKE_VERSIONS.includes(protocolVersion) ? protocolVersion : HANDSHAKE_VERSIONS[0];
    return { protocolVersion: version, ...this.#offer(), serverInfo: this.#info() };
  }

  #offer(): Json {
    return { capabilities: { tools: {} }, instructions: this.#options.instructions };
  }

  #info(): Json {
    return { name: this.#options.name, title: 'memstrata', version: this.#options.version };
  }

  #list({ cursor }: Json): Json {
    if (cursor !== undefined) throw new Refusal(INVALID_PARAMS, 'there is no such cursor: all tools are in one list');
    return { tools: this.#options.tools.map(({ name, title, description, inputSchema, outputSchema, annotations }) => ({ name, title, description, inputSchema, outputSchema, annotations })) };
  }

  async #call(params: Json, signal: AbortSignal): Promise<Json> {
    const tool = this.#options.tools.find(({ name }) => name === params.name);
    if (!tool) throw new Refusal(INVALID_PARAMS, `there is no tool ${JSON.stringify(params.name)}`);
    const token = isObject(params._meta) ? params._meta.progressToken : undefined;
    let last = 0;
    const onProgress = (progress: number, total: number): void => {
      // It must grow, and ends with the request.
      if (!isId(token) || signal.aborted || progress <= last) return;
      last = progress;
      this.#options.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, total } });
    };
    try {
      const structuredContent = await this.#options.call(tool, params.arguments ?? {}, { signal, onProgress });
      return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent, isError: false };
    } catch (error) {
      // For the model to read, and to do better.
      return { content: [{ type: 'text', text: wordsOf(toMemoryOSError(error, 'INTERNAL')) }], isError: true };
    }
  }
}

function wordsOf({ code, message }: MemoryOSError): string {
  return `${code}: ${message}`;
}

function failure(id: Id | null, thrown: unknown): Json {
  if (thrown instanceof Refusal) return { jsonrpc: '2.0', id, error: { code: thrown.code, message: thrown.message, ...(thrown.data === undefined ? {} : { data: thrown.data }) } };
  return { jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message: isMemoryOSError(thrown) ? wordsOf(thrown) : 'the server failed' } };
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || typeof value === 'number';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
