/** A turn as callers write it, checked and in the core's shape. */
import type { WasmAddInput } from '../engine/contract.js';
import { invalid } from '../errors.js';
import { show } from '../text.js';
import type { Metadata } from '../types.js';
import { readContent } from './content.js';
import { readMetadata } from './metadata.js';
import { text } from './query.js';
import { readTimestamp } from './time.js';

/** Metadata key under which the parts of a message that are not text are remembered. */
export const ATTACHMENTS = 'attachments';

export function readTurn(value: unknown, now: number, name = 'the turn'): WasmAddInput {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`${name} must be an object with userInput and agentResponse, got ${show(value)}`);
  }
  const turn = value as Record<string, unknown>;
  const user = readContent(turn.userInput, 'userInput');
  const agent = readContent(turn.agentResponse, 'agentResponse');
  const attachments = [
    ...user.references.map((part) => ({ side: 'user', ...part })),
    ...agent.references.map((part) => ({ side: 'agent', ...part })),
  ];
  if (user.text.trim() === '' && agent.text.trim() === '' && attachments.length === 0) {
    throw invalid('userInput and agentResponse are both empty: one side must say something');
  }
  return {
    userInput: user.text,
    agentResponse: agent.text,
    ...readContext(turn, now, attachments),
  };
}

/** What a turn and a question share: when, who, which session, and the caller's own values. */
export function readContext(turn: Record<string, unknown>, now: number, attachments: Metadata[] = []): Omit<WasmAddInput, 'userInput' | 'agentResponse'> {
  const { epochMs, offsetMinutes } = readTimestamp(turn.timestamp, now);
  const metadata = readMetadata(turn.metadata, 'metadata');
  if (attachments.length > 0) metadata[ATTACHMENTS] = readMetadata({ attachments }, ATTACHMENTS).attachments ?? [];
  return {
    epochMs,
    offsetMinutes,
    metadata,
    ...optionalText('clientId', turn.id, 'id'),
    ...optionalText('session', turn.session, 'session'),
    ...optionalText('userName', turn.userName, 'userName'),
    ...optionalText('agentName', turn.agentName, 'agentName'),
  };
}

function optionalText<K extends string>(key: K, value: unknown, name: string): { [P in K]?: string } {
  if (value === undefined || value === null) return {};
  return { [key]: text(value, name) } as { [P in K]: string };
}
