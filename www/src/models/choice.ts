import type { ChatModel } from 'memstrata/providers';
import { signal } from '@preact/signals';
import { preference } from '../shell/preference';

/** Which embedder the memory opens with. */
export const embedder = preference<'builtin' | 'none'>('embedder', 'builtin', ['builtin', 'none']);

export interface Endpoint {
  baseURL: string;
  model: string;
}

const kept = preference<string>('endpoint', '');

/** Address and model of the last chat provider. The key is never kept: it lives in this module and dies with the page. */
export const endpoint = signal<Endpoint | null>(parse(kept.value));
let apiKey = '';

/** True while answers come from a model. */
export const chatOn = signal(false);

/** A server without a key is used again at the next visit; one with a key waits for it to be typed. */
const keyless = preference<'yes' | 'no'>('keyless', 'no', ['yes', 'no']);
chatOn.value = keyless.value === 'yes' && endpoint.value !== null;

export function chooseChat(chosen: Endpoint, key: string): void {
  endpoint.value = chosen;
  apiKey = key;
  kept.value = JSON.stringify(chosen);
  keyless.value = key === '' ? 'yes' : 'no';
  chatOn.value = true;
}

export function dropChat(): void {
  apiKey = '';
  keyless.value = 'no';
  chatOn.value = false;
}

export async function chatModel(chosen: Endpoint | null = endpoint.value, key = apiKey): Promise<ChatModel | undefined> {
  if (!chosen) return undefined;
  const { openAICompatible } = await import('memstrata/providers');
  return openAICompatible({ baseURL: chosen.baseURL, ...(key === '' ? {} : { apiKey: key }), model: chosen.model });
}

function parse(text: string): Endpoint | null {
  try {
    const value = JSON.parse(text) as Endpoint;
    return typeof value.baseURL === 'string' && typeof value.model === 'string' ? { baseURL: value.baseURL, model: value.model } : null;
  } catch {
    return null;
  }
}
