/** Where a server is and how to speak to it, without ever showing the key. */
import { invalid, MemoryOSError } from '../errors.js';
import type { FailureCause } from './failure.js';

export interface Endpoint {
  /** Full address of a path under the base. */
  url(path: string): string;
  /** The base as it may be shown and used as a name: no query, no credentials. */
  shown: string;
  host: string;
  /** The text with every secret replaced. */
  scrub(text: string): string;
  headers(): Promise<Record<string, string>>;
}

export interface EndpointOptions {
  baseURL: string;
  apiKey?: string | (() => string | Promise<string>) | undefined;
  /** Header that carries the bare key, for example Azure's `api-key`; without it the key goes as `Authorization: Bearer`. */
  keyHeader?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** Endings people paste along with the base. */
const PASTED = /\/+(chat\/completions|completions|embeddings)?\/*$/;

export function endpoint(options: EndpointOptions): Endpoint {
  const base = readBase(options.baseURL);
  const path = base.pathname.replace(PASTED, '');
  // What a secret looks like is known only when it is read; a function may give another each time.
  const secrets = new Set(Object.values(options.headers ?? {}).filter((value) => value.length >= 8));
  for (const value of base.searchParams.values()) if (value.length >= 16) secrets.add(value);

  return {
    url: (suffix) => `${base.origin}${path}/${suffix}${base.search}`,
    shown: `${base.origin}${path}`,
    host: base.hostname,
    scrub(text) {
      let clean = text;
      for (const secret of secrets) clean = clean.replaceAll(secret, '[key]');
      return clean;
    },
    async headers() {
      const { keyHeader } = options;
      const key = await readKey(options.apiKey);
      if (key !== undefined) secrets.add(key);
      // Nothing else: servers that allow only these two in a preflight are common.
      return { 'content-type': 'application/json', ...(key === undefined ? {} : keyHeader ? { [keyHeader]: key } : { authorization: `Bearer ${key}` }), ...options.headers };
    },
  };
}

function readBase(baseURL: unknown): URL {
  if (typeof baseURL !== 'string' || baseURL.trim() === '') throw invalid('baseURL must be the address of the server, for example "http://localhost:11434/v1"');
  let url: URL;
  try {
    url = new URL(baseURL.trim(), (globalThis as { location?: { href: string } }).location?.href);
  } catch {
    throw invalid('baseURL is not an address: it needs a scheme and a host, for example "http://localhost:11434/v1"');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalid(`baseURL must begin with http:// or https://, got ${url.protocol}`);
  if (url.username !== '' || url.password !== '') throw invalid('baseURL must hold no user name and password: pass the key as `apiKey`');
  return url;
}

async function readKey(apiKey: EndpointOptions['apiKey']): Promise<string | undefined> {
  const key = (typeof apiKey === 'function' ? await apiKey() : apiKey)?.trim();
  if (key === undefined || key === '') return undefined;
  // fetch would refuse it with a message that quotes the key.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new MemoryOSError('INVALID_ARGUMENT', 'apiKey holds spaces or characters that no key has; it may have been copied incompletely', { data: { cause: 'key' satisfies FailureCause } });
  }
  return key;
}

export function isLocal(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || host === '[::1]' || /^127\./.test(host);
}
