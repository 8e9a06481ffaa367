/** Files of the origin private file system, in a page that holds nothing but the package. */
import { MemoryOS } from 'memstrata';
import { OpfsStorage } from 'memstrata/storage/opfs';
import { storageConformance } from 'memstrata/testing';

let folders = 0;
let memory;

/** What failed, by the name of its test; `options` go to every engine. */
export async function conformance(options = {}) {
  const failed = [];
  const tests = storageConformance(() => new OpfsStorage({ folder: `conformance-${++folders}`, ...options }));
  for (const { name, run } of tests) await run().catch((error) => failed.push(`${name}: ${error.message}`));
  return { count: tests.length, failed };
}

/** The same, inside a dedicated worker. */
export function conformanceInWorker() {
  const imports = JSON.parse(document.querySelector('script[type=importmap]').textContent).imports;
  const at = (name) => JSON.stringify(new URL(imports[name], location.href).href);
  const script = `import { OpfsStorage } from ${at('memstrata/storage/opfs')};
    import { storageConformance } from ${at('memstrata/testing')};
    const failed = [];
    let folders = 0;
    const tests = storageConformance(() => new OpfsStorage({ folder: 'in-worker-' + ++folders, compactFromBytes: 0 }));
    for (const { name, run } of tests) await run().catch((error) => failed.push(name + ': ' + error.message));
    postMessage({ count: tests.length, failed });`;
  const worker = new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), { type: 'module' });
  return new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
  });
}

export async function open(lockWaitMs) {
  memory = await MemoryOS.open({ name: 'files', userId: 'ada', embedder: 'none', storage: new OpfsStorage({ lockWaitMs }) });
}

/** The code of the error, or nothing. */
export const codeOfOpening = (lockWaitMs) => open(lockWaitMs).then(() => undefined, ({ code }) => code);
export const close = () => memory.close();
export const pages = async () => (await memory.pages({ limit: 10_000 })).map((page) => Number(page.clientId));

/** Adds without end, and acknowledges each that was said to be durable. */
export async function addForEver(from) {
  for (let number = from; ; number++) {
    await memory.addMemory({ id: String(number), userInput: `Number ${number}`, agentResponse: 'Noted.' });
    await fetch('/ack', { method: 'POST', body: JSON.stringify(number) });
  }
}

/** Which files there are, and whether the text stands in one of them. */
export async function files(text) {
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('memstrata');
  const found = [];
  for await (const [name, handle] of folder.entries()) {
    if (!name.endsWith('.lock')) found.push({ name, holds: (await (await handle.getFile()).text()).includes(text) });
  }
  return found;
}

/** Forgets the latest turn, and gives its text. */
export async function forget() {
  const [{ id, userInput }] = await memory.pages({ limit: 1 });
  await memory.forget(id);
  return userInput;
}
