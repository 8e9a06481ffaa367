/** The lines that `exportJsonl` writes. */
import { each, isObject, textOf } from '../entries.js';
import type { Entry, Format, Json } from '../entries.js';
import type { FactInput, ImportTurn, Metadata } from '../../types.js';
import { momentOf } from '../../tools/moment.js';

/** Of the lines; a reader meets newer ones with an error. */
export const JSONL_VERSION = 1;

export const MEMSTRATA: Format = {
  name: 'memstrata',
  matches: ({ type, version }) => (type === 'memstrata' && typeof version === 'number') || (type === 'page' || type === 'fact' || type === 'profile'),
  reader: each((value, place) => {
    const line = value as Json;
    switch (line.type) {
      case 'memstrata': return line.version === JSONL_VERSION ? [] : [{ place, unreadable: `the file has format ${String(line.version)}, and this version reads ${JSONL_VERSION}` }];
      case 'page': return [page(line, place)];
      case 'fact': return [fact(line, place)];
      case 'profile': return [profile(line, place)];
      default: return [{ place, unreadable: `there are no lines of the type ${String(line.type)}` }];
    }
  }),
};

function page({ id, clientId, userInput, agentResponse, userName, agentName, time, offsetMinutes, session, metadata, neverRecall }: Json, place: string): Entry {
  const turn = { userInput, agentResponse } as ImportTurn;
  const name = textOf(clientId) ?? textOf(id);
  for (const [key, value] of Object.entries({ userName, agentName, session })) if (textOf(value) !== undefined) Object.assign(turn, { [key]: value });
  if (typeof time === 'number') turn.timestamp = momentOf(time, typeof offsetMinutes === 'number' ? offsetMinutes : 0) as string;
  if (isObject(metadata)) turn.metadata = metadata as Metadata;
  if (name !== undefined) turn.id = name;
  return { place, turn, neverRecall: neverRecall === true };
}

function fact({ subject, subjectName, attribute, value, kind, validFrom, validTo, pinned, neverRecall }: Json, place: string): Entry {
  if (validTo !== null && validTo !== undefined) return { place, leftOut: 'no longer believed' };
  const input = { subject, attribute, value, kind, ...(subjectName === undefined ? {} : { subjectName }), ...(typeof validFrom === 'number' ? { validFrom } : {}) } as FactInput;
  return { place, fact: input, pinned: pinned === true, neverRecall: neverRecall === true };
}

function profile({ of, text }: Json, place: string): Entry {
  if ((of !== 'user' && of !== 'assistant') || typeof text !== 'string') return { place, unreadable: 'a profile needs of ("user" or "assistant") and text' };
  return { place, profile: { of, text } };
}
