/**
 * The offscreen document in which the memory lives: it outlives the service worker, and the engine has a Worker there. Nothing is
 * seen of it, and it serves the extension's own parts alone.
 */
import { MemoryOS, openAICompatible } from 'memstrata';
import { serveMemory, type ServedMemory } from 'memstrata/extension';
import { CHANNEL, isMessage, type HowToOpen, type Message } from './names';

const RETRY_MS = 5_000;
const inRam = new WeakSet<MemoryOS>();

async function open(carried: Blob | undefined): Promise<MemoryOS> {
  const { baseURL, model, key, ephemeral } = (await chrome.runtime.sendMessage({ type: 'how-to-open' } satisfies Message)) as HowToOpen;
  const memory = await MemoryOS.open({
    name: 'extension',
    userId: 'me',
    assistantId: 'panel',
    storage: ephemeral ? 'memory' : 'indexeddb',
    ...(baseURL !== '' && model !== '' ? { chat: openAICompatible({ baseURL, model, ...(key === '' ? {} : { apiKey: key }) }) } : {}),
  });
  if (ephemeral) inRam.add(memory);
  if (carried) await memory.importFrom(carried);
  return memory;
}

let serving = serve(open(undefined));

/** Listens at once, whenever the memory is there. */
function serve(memory: Promise<MemoryOS>): Promise<ServedMemory> {
  const served = serveMemory(memory, { channel: CHANNEL });
  // Those who connect are told why. It is tried again: the disk may have room by then.
  served.catch(() => setTimeout(() => {
    if (serving === served) serving = serve(open(undefined));
  }, RETRY_MS));
  return served;
}

/** Opens again, with the model that is set now. */
async function reopened(before: Promise<ServedMemory>): Promise<MemoryOS> {
  let carried: Blob | undefined;
  try {
    const { memory, close } = await before;
    await close();
    // What is in RAM alone goes along.
    if (inRam.has(memory)) carried = await memory.exportTo();
    await memory.close();
  } catch {
    // It was not open.
  }
  return open(carried);
}

chrome.runtime.onMessage.addListener((message: unknown, sender) => {
  if (isMessage('settings-changed', message, sender)) serving = serve(reopened(serving));
  return undefined;
});
