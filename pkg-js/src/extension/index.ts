/** A memory for all parts of a browser extension, over the Ports of `chrome.runtime`. */
export { connectMemory } from './connect.js';
export type { ConnectOptions, RemoteMemory } from './connect.js';
export { CALL_NAMES } from './calls.js';
export type { CallName } from './calls.js';
export type { ChromeOffscreen, Port, Runtime, Sender } from './chrome.js';
export { keepHost } from './offscreen.js';
export type { KeepHostOptions } from './offscreen.js';
export { serveMemory } from './serve.js';
export type { ServedMemory, ServeOptions } from './serve.js';
export { siteMatcher } from './sites.js';
export type { Allow, AllowRule, Permission, Site } from './sites.js';
