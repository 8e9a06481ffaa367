/** Who is at the other end of a Port, and what a site may do. */
import { invalid, MemoryOSError } from '../errors.js';
import { show } from '../text.js';
import type { CallName } from './calls.js';
import { readCall } from './calls.js';
import type { Runtime, Sender } from './chrome.js';

/** The page in which a content script runs. */
export interface Site {
  url: string;
  /** Scheme, host and port. */
  origin: string;
}

/** Calls a site may make, and what it may see. */
export interface Permission {
  /** Default: `addMemory` alone. */
  calls?: CallName[];
  /**
   * `"own"` (default): `retrieve` finds what this site has added, and nothing else; no other call but `addMemory` is possible. `"all"`:
   * the whole memory. A content script shares its process with the page: what it may see, a broken page may see.
   */
  sees?: 'own' | 'all';
}

/** What content scripts of some sites may do. */
export interface AllowRule extends Permission {
  /** Match patterns, as in a manifest: `https://*.example.org/*`. */
  sites: string | string[];
}

/** The first rule that matches counts. A function is asked at every call. */
export type Allow = AllowRule[] | ((site: Site) => Permission | undefined | Promise<Permission | undefined>);

/** `"extension"`: a page or worker of the extension itself. Undefined: nobody who may speak here. */
export function identify(sender: Sender | undefined, runtime: Runtime): Site | 'extension' | undefined {
  if (!sender || runtime.id === undefined || sender.id !== runtime.id) return undefined;
  const home = runtime.getURL('');
  if (sender.url === undefined) return sender.origin !== undefined && `${sender.origin}/` === home ? 'extension' : undefined;
  // Sandboxed pages of the extension have its address and an origin of their own.
  if (sender.url.startsWith(home)) return sender.origin === undefined || `${sender.origin}/` === home ? 'extension' : undefined;
  const { protocol, origin } = parse(sender.url) ?? {};
  if (origin === undefined || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  return sender.origin === undefined || sender.origin === origin ? { url: sender.url, origin } : undefined;
}

type Check = (site: Site) => Promise<Required<Permission> | undefined>;

/** Checks the rules once, and gives what asks them. */
export function readAllow(allow: Allow | undefined): Check {
  if (typeof allow === 'function') {
    return async (site) => {
      const permission = await allow(site);
      return permission && readPermission(permission);
    };
  }
  if (allow !== undefined && !Array.isArray(allow)) throw invalid(`allow must be a list of rules or a function, got ${show(allow)}`);
  const rules = (allow ?? []).map((rule) => ({ matches: siteMatcher(rule.sites), permission: readPermission(rule) }));
  return async ({ url }) => rules.find(({ matches }) => matches(url))?.permission;
}

function readPermission({ calls = ['addMemory'], sees = 'own' }: Permission): Required<Permission> {
  if (sees !== 'own' && sees !== 'all') throw invalid(`sees must be "own" or "all", got ${show(sees)}`);
  const beyond = calls.map(readCall).find((call) => sees === 'own' && call !== 'addMemory' && call !== 'retrieve');
  if (beyond) throw invalid(`${beyond} reaches the whole memory: a site may call it only with sees: "all"`);
  return { calls, sees };
}

/** Whether an address matches one of the patterns. Throws INVALID_ARGUMENT for what is no pattern. */
export function siteMatcher(patterns: string | string[]): (url: string) => boolean {
  const tests = [patterns].flat().map(readPattern);
  return (address) => {
    const url = parse(address);
    return url !== undefined && tests.some((matches) => matches(url));
  };
}

const PATTERN = /^(\*|https?):\/\/(\*|(?:\*\.)?[^*/:]+)(?::(\d+))?(\/.*)$/;

function readPattern(pattern: string): (url: URL) => boolean {
  if (pattern === '<all_urls>') return ({ protocol }) => protocol === 'https:' || protocol === 'http:';
  const [, scheme, host = '', port, path = ''] = PATTERN.exec(pattern) ?? [];
  if (scheme === undefined) throw invalid(`${show(pattern)} is no match pattern, such as "https://*.example.org/*"`);
  const inPath = new RegExp(`^${path.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replaceAll('*', '.*')}$`);
  const bare = host.replace(/^\*\.?/, '').toLowerCase();
  return (url) =>
    (scheme === '*' ? url.protocol === 'https:' || url.protocol === 'http:' : url.protocol === `${scheme}:`) &&
    (host === '*' || url.hostname === bare || (host.startsWith('*.') && url.hostname.endsWith(`.${bare}`))) &&
    (port === undefined || url.port === port) &&
    inPath.test(url.pathname + url.search);
}

function parse(url: string): URL | undefined {
  try {
    return new URL(url);
  } catch {
    return undefined;
  }
}

/** Metadata keys by which a site's memories are known; a site cannot set them itself. */
const ORIGIN = 'origin';
const SITE = 'site';

/** What a site asks for, kept to what it may. Rejects with FORBIDDEN. */
export async function permit(site: Site, method: CallName, args: unknown[], check: Check): Promise<unknown[]> {
  const permission = await check(site);
  if (!permission?.calls.includes(method)) throw new MemoryOSError('FORBIDDEN', `${site.origin} may not call ${method}: name it in \`allow\` of serveMemory`);
  const [first, second] = args as [Record<string, unknown>, Record<string, unknown> | undefined];
  switch (method) {
    case 'addMemory': return [stamped(first ?? {}, site)];
    case 'getResponse': return [first, stamped(second ?? {}, site)];
    case 'retrieve': return permission.sees === 'all' ? args : [first, { ...second, filter: narrowed(second?.filter, site) }];
    default: return args;
  }
}

function stamped(turn: Record<string, unknown>, { url, origin }: Site): Record<string, unknown> {
  // Of a site the memory is told where it came from, whatever the page says.
  // Its ids are its own too: another site's turn is never taken for a duplicate.
  const id = typeof turn.id === 'string' ? { id: `${origin} ${turn.id}` } : {};
  return { ...turn, ...id, metadata: { ...objectOf(turn.metadata), [ORIGIN]: 'web', [SITE]: origin, url } };
}

function narrowed(filter: unknown, { origin }: Site): object {
  const given = objectOf(filter);
  // A condition on turns leaves facts of long-term memory out too.
  return { ...given, metadata: { ...objectOf(given.metadata), [ORIGIN]: 'web', [SITE]: origin } };
}

function objectOf(value: unknown): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw invalid(`metadata and filter must be objects, got ${show(value)}`);
  return value as Record<string, unknown>;
}
