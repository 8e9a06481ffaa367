/** The memory's tools for the agent of a browser, through WebMCP: `memstrata/webmcp`. */
import { MemoryOSError, toMemoryOSError } from '../errors.js';
import type { MemoryOS } from '../memory-os.js';
import { TOOLS } from '../tools/index.js';
import type { Tool, ToolMemory } from '../tools/index.js';

/** The part of the proposal's ModelContext that is used. `unregisterTool` is of its earlier form, without signals. */
export interface ModelContextLike {
  registerTool(tool: WebMcpTool, options?: { signal?: AbortSignal; exposedTo?: string[] }): unknown;
  unregisterTool?(name: string): unknown;
}

/** A tool as a browser takes it. */
export interface WebMcpTool {
  name: string;
  title: string;
  description: string;
  inputSchema: { type: 'object'; [key: string]: unknown };
  outputSchema: { type: 'object'; [key: string]: unknown };
  annotations: { readOnlyHint: boolean; destructiveHint: boolean; idempotentHint: boolean; untrustedContentHint: boolean };
  execute(input: unknown, options?: { signal?: AbortSignal }): Promise<{ [name: string]: unknown }>;
}

/** Which tools are offered, and where. */
export interface WebMcpOptions {
  /** Which tools to offer. Default: those that destroy nothing, so neither update_memory nor delete_memory. */
  tools?: (tool: Tool) => boolean;
  /** Origins of other documents that may see the tools. Default: none. */
  exposedTo?: string[];
  /** Takes the tools away again; closing the memory does too. */
  signal?: AbortSignal;
  /** Default: `document.modelContext`, or `navigator.modelContext` of earlier browsers. */
  context?: ModelContextLike;
}

/** True where the browser, or a polyfill, has the interface. */
export function hasWebMcp(): boolean {
  return find() !== undefined;
}

/**
 * Registers the tools, all or none; the returned function takes them away. Gives nothing where the browser has no such interface.
 * Rejects with INVALID_ARGUMENT when it refuses one, for example because the page has a tool of that name already.
 */
export async function registerWebMcp(memory: ToolMemory & Pick<MemoryOS, 'on'>, options: WebMcpOptions = {}): Promise<(() => void) | undefined> {
  const { tools = ({ annotations }) => !annotations.destructiveHint, exposedTo, signal } = options;
  const context = options.context ?? find();
  if (!context || signal?.aborted) return undefined;
  const registered = new AbortController();
  const names: string[] = [];
  const unregister = (): void => {
    if (registered.signal.aborted) return;
    registered.abort();
    for (const name of names) context.unregisterTool?.(name);
    stop();
    signal?.removeEventListener('abort', unregister);
  };
  const stop = memory.on('closed', unregister);
  signal?.addEventListener('abort', unregister);
  for (const tool of TOOLS.filter(tools)) {
    try {
      await context.registerTool(described(tool, memory), { signal: registered.signal, ...(exposedTo ? { exposedTo } : {}) });
      names.push(tool.name);
    } catch (error) {
      unregister();
      throw new MemoryOSError('INVALID_ARGUMENT', `the browser refuses the tool ${tool.name}: ${toMemoryOSError(error, 'INTERNAL').message}`, { cause: error });
    }
    // The memory was closed while the browser thought about it.
    if (registered.signal.aborted) {
      context.unregisterTool?.(tool.name);
      return undefined;
    }
  }
  return unregister;
}

function described({ name, title, description, inputSchema, outputSchema, annotations, run }: Tool, memory: ToolMemory): WebMcpTool {
  const { readOnlyHint, destructiveHint, idempotentHint } = annotations;
  return {
    name, title, description, inputSchema, outputSchema,
    // Whatever has a notice holds stored words.
    annotations: { readOnlyHint, destructiveHint, idempotentHint, untrustedContentHint: 'notice' in outputSchema.properties },
    execute: async (input, { signal } = {}) => run(memory, input ?? {}, signal ? { signal } : {}),
  };
}

function find(): ModelContextLike | undefined {
  const { document, navigator } = globalThis as { document?: { modelContext?: ModelContextLike }; navigator?: { modelContext?: ModelContextLike } };
  const context = document?.modelContext ?? navigator?.modelContext;
  return typeof context?.registerTool === 'function' ? context : undefined;
}
