/** Well-known servers that speak OpenAI's dialect: where they are, and what is known of each, as data for a settings page. */
import { invalid } from '../errors.js';
import { show } from '../text.js';
import type { OpenAICompatibleEmbeddingOptions, OpenAICompatibleOptions } from './openai-compatible.js';
import { openAICompatible } from './openai-compatible.js';
import type { ChatModel, EmbeddingModel, OutputMode } from './types.js';

/** What is known of a server. */
export interface PresetNotes {
  name: string;
  baseURL: string;
  needsKey: boolean;
  /** Whether a page may call it: always, never, once it is set up to, or not known for certain. `testConnection` finds out. */
  cors: 'yes' | 'no' | 'setting' | 'unsure';
  /** How the server is made to allow a page, where that is a setting. */
  corsRemedy?: string;
  /** The way of asking for JSON that is tried first. */
  outputMode: OutputMode;
  /** Where a reasoning model puts its thoughts, which are never part of the answer; `content` means inside `<think>` tags in it. */
  reasoningField?: 'reasoning_content' | 'reasoning' | 'content';
  /** Fields of a request that switch thinking on and off. Models that cannot think may refuse them. */
  thinking?: { on: Record<string, unknown>; off: Record<string, unknown> };
  /** Length of the vectors of its embedding models, by name. Each stands for all names that begin with it. */
  dimensions: Record<string, number>;
  /** Models that shorten their vectors when asked to. */
  shortens?: RegExp;
}

const OLLAMA_DIMENSIONS = {
  'nomic-embed-text': 768, 'mxbai-embed-large': 1024, 'bge-m3': 1024, 'all-minilm': 384, 'snowflake-arctic-embed2': 1024, embeddinggemma: 768,
  'qwen3-embedding:0.6b': 1024, 'qwen3-embedding:4b': 2560, 'qwen3-embedding:8b': 4096,
};

/** What is known of each server: address, key, CORS, structured output, switches for thinking. From documentation; `unsure` is said where it is not known. */
export const PRESETS = {
  openai: {
    name: 'OpenAI',
    baseURL: 'https://api.openai.com/v1',
    needsKey: true,
    cors: 'yes',
    outputMode: 'json_schema',
    thinking: { on: { reasoning_effort: 'medium' }, off: { reasoning_effort: 'none' } },
    dimensions: { 'text-embedding-3-small': 1536, 'text-embedding-3-large': 3072, 'text-embedding-ada-002': 1536 },
    shortens: /^text-embedding-3-/,
  },
  deepseek: {
    name: 'DeepSeek',
    baseURL: 'https://api.deepseek.com/v1',
    needsKey: true,
    cors: 'unsure',
    outputMode: 'json_object',
    reasoningField: 'reasoning_content',
    thinking: { on: { thinking: { type: 'enabled' } }, off: { thinking: { type: 'disabled' } } },
    dimensions: {},
  },
  qwen: {
    name: 'Qwen (DashScope)',
    baseURL: 'https://dashscope.aliyuncs.com/compatible-mode/v1',
    needsKey: true,
    cors: 'no',
    outputMode: 'json_object',
    reasoningField: 'reasoning_content',
    thinking: { on: { enable_thinking: true }, off: { enable_thinking: false } },
    dimensions: { 'text-embedding-v4': 1024, 'text-embedding-v3': 1024, 'text-embedding-v2': 1536 },
    shortens: /^text-embedding-v[34]/,
  },
  openRouter: {
    name: 'OpenRouter',
    baseURL: 'https://openrouter.ai/api/v1',
    needsKey: true,
    cors: 'yes',
    outputMode: 'json_schema',
    reasoningField: 'reasoning',
    thinking: { on: { reasoning: { enabled: true } }, off: { reasoning: { enabled: false } } },
    dimensions: {},
  },
  siliconFlow: {
    name: 'SiliconFlow',
    baseURL: 'https://api.siliconflow.cn/v1',
    needsKey: true,
    cors: 'unsure',
    outputMode: 'json_object',
    reasoningField: 'reasoning_content',
    thinking: { on: { enable_thinking: true }, off: { enable_thinking: false } },
    dimensions: {
      'BAAI/bge-m3': 1024, 'Pro/BAAI/bge-m3': 1024, 'BAAI/bge-large-zh-v1.5': 1024, 'BAAI/bge-large-en-v1.5': 1024,
      'Qwen/Qwen3-Embedding-0.6B': 1024, 'Qwen/Qwen3-Embedding-4B': 2560, 'Qwen/Qwen3-Embedding-8B': 4096,
    },
    shortens: /^Qwen\/Qwen3-Embedding-/,
  },
  ollama: {
    name: 'Ollama',
    baseURL: 'http://localhost:11434/v1',
    needsKey: false,
    cors: 'setting',
    corsRemedy: 'start it with OLLAMA_ORIGINS set to the origin of the page',
    outputMode: 'json_schema',
    reasoningField: 'reasoning',
    thinking: { on: { reasoning_effort: 'medium' }, off: { reasoning_effort: 'none' } },
    dimensions: OLLAMA_DIMENSIONS,
  },
  lmStudio: {
    name: 'LM Studio',
    baseURL: 'http://localhost:1234/v1',
    needsKey: false,
    cors: 'setting',
    corsRemedy: 'switch CORS on in the settings of its server',
    outputMode: 'json_schema',
    reasoningField: 'content',
    dimensions: { 'text-embedding-nomic-embed-text-v1.5': 768 },
  },
  llamaCpp: {
    name: 'llama.cpp',
    baseURL: 'http://localhost:8080/v1',
    needsKey: false,
    cors: 'yes',
    outputMode: 'json_schema',
    reasoningField: 'reasoning_content',
    thinking: { on: { chat_template_kwargs: { enable_thinking: true } }, off: { chat_template_kwargs: { enable_thinking: false } } },
    dimensions: {},
  },
} as const satisfies Record<string, PresetNotes>;

/** One of `PRESETS`. */
export type PresetName = keyof typeof PRESETS;

/** What `openAICompatible` takes, with the address filled in, and `thinking` where the server has a switch for it. */
export interface PresetOptions extends Omit<OpenAICompatibleOptions, 'baseURL'> {
  /** Default: the preset's. */
  baseURL?: string;
  /** Switches thinking on or off, where the server has a switch. Default: the model's own. */
  thinking?: boolean;
}

/** The same for embeddings. */
export interface PresetEmbeddingOptions extends PresetOptions, Pick<OpenAICompatibleEmbeddingOptions, 'requestDimensions' | 'maxEmbeddingsPerCall'> {
  /** Length of the vectors, or `true` for that which the preset knows of the model. */
  dimensions: number | true;
}

/** Makes a model of one server. */
export interface Preset {
  (options: PresetEmbeddingOptions): ChatModel & EmbeddingModel;
  (options: PresetOptions): ChatModel;
  readonly notes: PresetNotes;
}

function preset(notes: PresetNotes): Preset {
  const make = (options: PresetOptions & Partial<PresetEmbeddingOptions>): ChatModel & Partial<EmbeddingModel> => {
    if (!options) throw invalid('pass at least the name of a `model`');
    const { thinking, dimensions, ...rest } = options;
    if (thinking !== undefined && !notes.thinking) throw invalid(`${notes.name} has no switch for thinking: choose a model that does or does not think`);
    if (notes.needsKey && options.baseURL === undefined && options.apiKey === undefined) throw invalid(`${notes.name} needs a key: pass it as \`apiKey\``);
    const base = {
      ...rest,
      baseURL: options.baseURL ?? notes.baseURL,
      extraBody: { ...(thinking === undefined ? {} : notes.thinking?.[thinking ? 'on' : 'off']), ...options.extraBody },
    };
    if (dimensions === undefined) return starting(openAICompatible(base), notes.outputMode);
    const known = knownDimensions(notes, options.model);
    if (dimensions === true && known === undefined) throw invalid(`${notes.name} does not say how long the vectors of ${show(options.model)} are: pass their length as \`dimensions\``);
    const asked = dimensions === true ? (known as number) : dimensions;
    // A length other than the model's own has to be asked for.
    const requestDimensions = options.requestDimensions ?? (known !== asked && notes.shortens?.test(options.model) === true);
    return starting(openAICompatible({ ...base, dimensions: asked, requestDimensions }), notes.outputMode);
  };
  return Object.assign(make, { notes }) as Preset;
}

/** The longest name that the model's begins with. */
function knownDimensions({ dimensions }: PresetNotes, model: string): number | undefined {
  const names = Object.keys(dimensions).filter((name) => model.toLowerCase().startsWith(name.toLowerCase()));
  return dimensions[names.sort((a, b) => b.length - a.length)[0] ?? ''];
}

const MODES: readonly OutputMode[] = ['json_schema', 'json_object', 'tool_call', 'plain'];

/** Begins with the way of asking for JSON that the server is known to take, and says so, as if it had refused the stronger ones. */
function starting<M extends ChatModel>(model: M, mode: OutputMode): M {
  if (mode === 'json_schema') return model;
  return {
    ...model,
    async chat(request) {
      const weaker = request.responseSchema !== undefined && MODES.indexOf(request.outputMode ?? 'json_schema') < MODES.indexOf(mode);
      return weaker ? { outputMode: mode, ...(await model.chat({ ...request, outputMode: mode })) } : model.chat(request);
    },
  };
}

/** A model of OpenAI; what is known of it is in `PRESETS`. */
export const openai = preset(PRESETS.openai);
/** A model of DeepSeek; what is known of it is in `PRESETS`. */
export const deepseek = preset(PRESETS.deepseek);
/** A model of Qwen on DashScope; what is known of it is in `PRESETS`. */
export const qwen = preset(PRESETS.qwen);
/** A model of OpenRouter; what is known of it is in `PRESETS`. */
export const openRouter = preset(PRESETS.openRouter);
/** A model of SiliconFlow; what is known of it is in `PRESETS`. */
export const siliconFlow = preset(PRESETS.siliconFlow);
/** A model of Ollama; what is known of it is in `PRESETS`. */
export const ollama = preset(PRESETS.ollama);
/** A model of LM Studio; what is known of it is in `PRESETS`. */
export const lmStudio = preset(PRESETS.lmStudio);
/** A model of the server of llama.cpp; what is known of it is in `PRESETS`. */
export const llamaCpp = preset(PRESETS.llamaCpp);
