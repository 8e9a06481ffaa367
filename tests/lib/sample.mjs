/** The bundled sample conversation: six weeks of a photographer, English and Chinese, written for this project. */
import { readFileSync } from 'node:fs';

export function loadSample() {
  return JSON.parse(readFileSync(new URL('../../pkg-js/sample/conversation.json', import.meta.url), 'utf8'));
}
