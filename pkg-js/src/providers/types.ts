/**
 * What memstrata needs from a model. Implement these two interfaces for any model you like;
 * `openAICompatible` implements both over HTTP.
 */

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'unknown';

/** Tokens that one call took, as the provider counts them. */
export interface Usage {
  /** `undefined` where the provider does not say. */
  inputTokens?: number;
  outputTokens?: number;
}

/** One message of a prompt; only text. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/**
 * How a structured answer is asked for, strongest first: with its schema, as some JSON object, as the arguments of a tool that
 * must be called (their text is the answer's), or by the prompt's words alone.
 */
export type OutputMode = 'json_schema' | 'json_object' | 'tool_call' | 'plain';

/** One question to a language model. */
export interface ChatRequest {
  messages: ChatMessage[];
  /** Most tokens of the answer. */
  maxOutputTokens?: number;
  temperature?: number;
  /** JSON Schema that the answer must follow; a model that cannot is told so in the prompt by the caller. */
  responseSchema?: { name: string; schema: object };
  /** Strongest way to ask for JSON; default `json_schema`. A server that refuses it is asked in a plainer one. */
  outputMode?: OutputMode;
  abortSignal?: AbortSignal;
  /** Called with each piece of text as it comes; a provider that cannot stream calls it once. */
  onText?: (delta: string) => void;
}

/** A language model's whole answer. */
export interface ChatResult {
  text: string;
  /** Never dropped: a truncated answer must not be taken for a whole one. */
  finishReason: FinishReason;
  usage?: Usage;
  /** The way in which JSON was asked for, where that is weaker than `outputMode`; it is remembered. */
  outputMode?: OutputMode;
}

/** A language model. `chat` rejects with any error; one of this package keeps its code, another becomes PROVIDER_FAILED. */
export interface ChatModel {
  readonly specificationVersion: 'memstrata-v1';
  readonly provider: string;
  readonly modelId: string;
  /** Most requests at once; default 2. */
  readonly maxConcurrency?: number;
  chat(request: ChatRequest): Promise<ChatResult>;
}

/** Texts to be turned into vectors. */
export interface EmbeddingRequest {
  texts: string[];
  /** Some models embed questions and passages differently. */
  kind: 'query' | 'passage';
  abortSignal?: AbortSignal;
}

/** The vectors of one request. */
export interface EmbeddingResult {
  /** One vector a text, in the order of the texts. */
  vectors: Float32Array[];
  usage?: Usage;
}

/** A model that turns texts into vectors of `dimensions` numbers. Vectors of two models are never compared: provider and model name it. */
export interface EmbeddingModel {
  readonly specificationVersion: 'memstrata-v1';
  readonly provider: string;
  readonly modelId: string;
  /** 1 to 4,096. */
  readonly dimensions: number;
  /** Texts per call; longer lists are split. */
  readonly maxEmbeddingsPerCall?: number;
  embed(request: EmbeddingRequest): Promise<EmbeddingResult>;
}
