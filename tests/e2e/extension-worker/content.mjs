// What a content script may do, told to the page as an attribute.
import { connectMemory } from 'memstrata/extension';

const memory = connectMemory();
const told = (call) => call.then(({ status, hits }) => status ?? hits.map(({ text }) => text), ({ code }) => code);

// A content script is no module.
void (async () => {
  const added = await told(memory.addMemory({ userInput: document.title, agentResponse: '', metadata: { origin: 'user' } }));
  const found = await told(memory.retrieve('lighthouse'));
  document.documentElement.dataset.told = JSON.stringify({ added, found });
})();
