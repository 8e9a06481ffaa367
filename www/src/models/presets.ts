/** Servers on the reader's own machine come first. */
export const presets = {
  ollama: { baseURL: 'http://localhost:11434/v1', model: 'qwen3:4b' },
  lmstudio: { baseURL: 'http://localhost:1234/v1', model: '' },
  openai: { baseURL: 'https://api.openai.com/v1', model: '' },
  other: { baseURL: 'https://', model: '' },
} as const;

export type Preset = keyof typeof presets;

/** The same rule as the page's content security policy: any https server, and http only on this machine. */
export function reachable(address: string): boolean {
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    return false;
  }
  return url.protocol === 'https:' || (url.protocol === 'http:' && ['localhost', '127.0.0.1'].includes(url.hostname));
}
