/** `memstrata/ai-sdk`: a memory for any model of the AI SDK, as a middleware of `wrapLanguageModel`. */
import type { MemoryOS } from '../../memory-os.js';
import { fenced } from '../fence.js';
import { partsOf, readPrompt, reasonOf, textOf } from './prompt.js';
import type { PromptMessage } from './prompt.js';
import { Turns } from './turns.js';
import type { Turn } from './turns.js';
import type { CallOptions, MemoryCallOptions, MemoryMiddleware, MemoryMiddlewareOptions } from './types.js';
import { watched } from './watch.js';

export type { MemoryCallOptions, MemoryMiddleware, MemoryMiddlewareOptions } from './types.js';

const NAME = 'memstrata';

/** What `wrapGenerate` and `wrapStream` know of the parameters that `transformParams` made. */
interface Step {
  turn: Turn;
  /** What the assistant said in earlier steps. */
  said: string[];
  signal: AbortSignal | undefined;
}

/**
 * Recalls once a turn and puts the memory before the user's message as a block of data; stores the exchange once, when its
 * last step is done. A call that fails, and a stream that fails, is aborted or cancelled, leaves the user's message alone.
 */
export function memoryMiddleware(memory: MemoryOS, options: MemoryMiddlewareOptions = {}): MemoryMiddleware {
  const turns = new Turns(memory, options);
  const steps = new WeakMap<object, Step>();

  const ended = ({ turn, said }: Step, text: string, reason: string | undefined): Promise<void> => {
    const answer = [...said, text].filter(Boolean).join('\n');
    if (reason === undefined || reason === 'error') return turns.write(turn, '');
    if (reason !== 'tool-calls') return turns.write(turn, answer);
    turn.waiting = answer;
    return Promise.resolve();
  };

  const transform = async (params: CallOptions): Promise<CallOptions> => {
    const reading = readPrompt(params.prompt);
    const message = reading && params.prompt[reading.at];
    const wishes: MemoryCallOptions = { ...wishesOf(message), ...wishesOf(params) };
    const clean = withoutAnyWishes(params);
    if (!reading || !message || wishes.enabled === false) return clean;

    const { current, earlier, begun } = reading;
    const { id, session = options.session } = wishes;
    const key = JSON.stringify([session, id ?? reading.key]);
    let turn = turns.find(key, begun);
    if (!turn) {
      turns.closeShown(earlier);
      const shown = [...earlier, { user: current.user, assistant: [] }];
      turn = {
        user: current.user,
        userInput: partsOf(message.content),
        session,
        id,
        store: wishes.store !== false,
        recalled: wishes.recall === false ? Promise.resolve('') : turns.recall(current.user, shown, params.abortSignal),
        whole: false,
        written: Promise.resolve(),
      };
      turns.begin(key, turn);
    }
    const block = fenced(await turn.recalled);
    if (block !== '') clean.prompt[reading.at] = withBlock(clean.prompt[reading.at] as PromptMessage, block);
    steps.set(clean, { turn, said: current.assistant, signal: params.abortSignal });
    return clean;
  };

  return {
    specificationVersion: 'v4',
    async transformParams<P>({ params }: { params: P }) {
      try {
        return (await transform(params as CallOptions)) as P;
      } catch (error) {
        // A prompt that cannot be read is still the model's to answer.
        turns.failed(error, 'recall');
        return withoutAnyWishes(params as CallOptions) as P;
      }
    },
    async wrapGenerate<R>({ doGenerate, params }: { doGenerate: () => PromiseLike<R>; params: object }) {
      const step = steps.get(params);
      if (!step) return doGenerate();
      let result: R;
      try {
        result = await doGenerate();
      } catch (error) {
        await turns.write(step.turn, '');
        throw error;
      }
      const { content, finishReason } = result as { content?: unknown; finishReason?: unknown };
      await ended(step, textOf(content), reasonOf(finishReason));
      return result;
    },
    async wrapStream<R>({ doStream, params }: { doStream: () => PromiseLike<R>; params: object }) {
      const step = steps.get(params);
      if (!step) return doStream();
      let result: R;
      try {
        result = await doStream();
      } catch (error) {
        await turns.write(step.turn, '');
        throw error;
      }
      const { stream } = result as { stream: ReadableStream<unknown> };
      return { ...result, stream: watched(stream, step.signal, ({ text, reason }) => ended(step, text, reason)) };
    },
    settle: () => turns.settle(),
  };
}

function wishesOf(at: { providerOptions?: { [provider: string]: unknown } | undefined } | undefined): MemoryCallOptions {
  const wishes = at?.providerOptions?.[NAME];
  return typeof wishes === 'object' && wishes !== null ? wishes : {};
}

/** Sessions and ids are no provider's business, and some send all options on. */
function withoutWishes({ providerOptions }: { providerOptions?: { [provider: string]: unknown } | undefined }): object {
  if (providerOptions === undefined || !(NAME in providerOptions)) return {};
  const { [NAME]: _ours, ...others } = providerOptions;
  return { providerOptions: others };
}

const withoutAnyWishes = (params: CallOptions): CallOptions & { prompt: PromptMessage[] } => ({
  ...params, ...withoutWishes(params), prompt: params.prompt.map((item) => ({ ...item, ...withoutWishes(item) })),
});

function withBlock(message: PromptMessage, block: string): PromptMessage {
  const content = Array.isArray(message.content) ? (message.content as unknown[]) : [{ type: 'text', text: String(message.content) }];
  return { ...message, content: [{ type: 'text', text: `${block}\n\n` }, ...content] };
}
