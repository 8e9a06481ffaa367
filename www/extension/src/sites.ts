/** Sites as people write them: a host, or an address of it. */

/** As URL gives it; some browsers let spaces through, as %20. */
const HOST = /^([a-z\d_-]+(\.[a-z\d_-]+)*|\[[\da-f:.]+\])$/;

/** The host, or undefined for what is none. */
export function hostOf(line: string): string | undefined {
  const text = line.trim().replace(/^\*\./, '');
  try {
    const { protocol, hostname } = new URL(/^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `https://${text}`);
    return (protocol === 'https:' || protocol === 'http:') && HOST.test(hostname) ? hostname : undefined;
  } catch {
    return undefined;
  }
}

/** The entry of the list that covers an address: its host, or a host above it. */
export function listed(address: string, never: readonly string[]): string | undefined {
  const host = hostOf(address);
  return host === undefined ? undefined : never.find((each) => host === each || host.endsWith(`.${each}`));
}

/** An address as it is kept: without what may hold a key. Undefined for what is no web page. */
export function keptAddress(address: string | undefined): URL | undefined {
  try {
    const { protocol, origin, pathname } = new URL(address ?? '');
    return protocol === 'https:' || protocol === 'http:' ? new URL(pathname, origin) : undefined;
  } catch {
    return undefined;
  }
}
