/**
 * From a list of turns, one speaker each, to the pages that `addMemory` takes: what the user said and what was
 * answered. A turn without its other half keeps a page of its own with one empty side, so order is never changed.
 */

/** An ISO time without a zone is read as UTC: the local day in the data stays the day that is stored. */
export function withZone(time) {
  if (!time) return undefined;
  if (/^\d{4}-\d\d-\d\d$/.test(time)) return `${time}T00:00:00Z`;
  return /(Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`;
}

/**
 * @param {{id: string|number, session: string|number, time?: string|null, speaker: string, role: string, text: string}[]} turns
 * @param {{scope?: string}} [options] `scope` keeps ids and sessions of several conversations apart in one memory.
 * @returns {{input: import('memstrata').AddMemoryInput, user?: object, assistant?: object}[]} the turn objects behind each side
 */
export function toPages(turns, { scope = '' } = {}) {
  const pages = [];
  let open = null;
  for (const turn of turns) {
    if (!turn.text.trim()) continue;
    const session = scope + turn.session;
    if (turn.role === 'assistant' && open && open.input.session === session) {
      open.assistant = turn;
      open.input.agentResponse = turn.text;
      open.input.agentName = turn.speaker;
      open = null;
      continue;
    }
    const page = {
      input: { id: `${scope}${turn.id}`, userInput: '', agentResponse: '', session, timestamp: withZone(turn.time) },
    };
    if (turn.role === 'assistant') {
      Object.assign(page.input, { agentResponse: turn.text, agentName: turn.speaker });
      page.assistant = turn;
      open = null;
    } else {
      Object.assign(page.input, { userInput: turn.text, userName: turn.speaker });
      page.user = turn;
      open = page;
    }
    pages.push(page);
  }
  return pages;
}

/** From a page id and a side to the turn that was stored there. */
export class TurnMap {
  #sides = new Map();

  set(pageId, page) {
    this.#sides.set(pageId, page);
  }

  /** The turn behind a hit. */
  of(hit) {
    const page = this.#sides.get(hit.pageId);
    if (!page?.[hit.role]) throw new Error(`hit ${hit.id} names no turn that was stored`);
    return page[hit.role];
  }
}
