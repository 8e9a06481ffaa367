/** Options of retrieval, checked and with their defaults. */
import type { WasmMergeOptions, WasmRetrieveOptions } from '../engine/contract.js';
import { invalid } from '../errors.js';
import { show, wellFormed } from '../text.js';
import type { BuiltInStrategy, Filter, MergeOptions, RetrieveOptions, Tier } from '../types.js';
import { readMetadata } from './metadata.js';
import { readInstant, readMoment } from './time.js';

export const STRATEGIES: readonly BuiltInStrategy[] = ['auto', 'semantic', 'keyword', 'temporal', 'two_stage'];
const PROFILES = ['auto', 'chat', 'assistant', 'preference'] as const;
const TIERS: readonly Tier[] = ['short', 'mid', 'archive'];
export const ROLES = ['user', 'assistant'] as const;

export const DEFAULT_TOP_K = 10;
export const DEFAULT_BUDGET_TOKENS = 1_024;

export function readQuery(value: unknown): string {
  if (typeof value !== 'string') throw invalid(`the query must be a string, got ${show(value)}`);
  if (value.trim() === '') throw invalid('the query is empty');
  return wellFormed(value);
}

/** `strategies` are all that may be named. */
export function readRetrieveOptions(options: RetrieveOptions, now: number, strategies: readonly string[] = STRATEGIES): WasmRetrieveOptions {
  const { asOf } = options;
  return {
    ...(asOf === undefined ? {} : { asOfMs: readInstant(asOf, 'asOf') }),
    ...readMoment(options.now ?? asOf ?? now, 'now'),
    topK: integer(options.topK, 'topK', 1, 1_000, DEFAULT_TOP_K),
    budgetTokens: readBudget(options.budgetTokens),
    strategy: oneOf(options.strategy, 'strategy', strategies, 'auto'),
    profile: oneOf(options.profile, 'profile', PROFILES, 'auto'),
    filter: readFilter(options.filter),
  };
}

function readBudget(value: unknown): number {
  return integer(value, 'budgetTokens', 0, 1_000_000, DEFAULT_BUDGET_TOKENS);
}

/** How an answer is to be given, and from how much of memory. */
export function readManner({ style, relationship, budgetTokens }: MergeOptions): Omit<WasmMergeOptions, 'epochMs' | 'offsetMinutes'> {
  return {
    ...(style === undefined ? {} : { style: text(style, 'style', true) }),
    ...(relationship === undefined ? {} : { relationship: text(relationship, 'relationship', true) }),
    budgetTokens: readBudget(budgetTokens),
  };
}

function readFilter(filter: Filter | undefined): WasmRetrieveOptions['filter'] {
  if (filter === undefined) return {};
  if (typeof filter !== 'object' || filter === null) throw invalid(`filter must be an object, got ${show(filter)}`);
  const clean: WasmRetrieveOptions['filter'] = {};
  if (filter.tiers !== undefined) clean.tiers = eachOf(filter.tiers, 'filter.tiers', TIERS);
  if (filter.roles !== undefined) clean.roles = eachOf(filter.roles, 'filter.roles', ROLES);
  if (filter.from !== undefined) clean.fromMs = readInstant(filter.from, 'filter.from');
  if (filter.to !== undefined) clean.toMs = readInstant(filter.to, 'filter.to');
  if (filter.sessions !== undefined) clean.sessions = texts(filter.sessions, 'filter.sessions');
  if (filter.metadata !== undefined) clean.metadata = readMetadata(filter.metadata, 'filter.metadata');
  if (filter.where !== undefined) clean.where = readMetadata(filter.where, 'filter.where');
  if (filter.not !== undefined) clean.not = [filter.not].flat().map((negated) => readFilter(negated));
  if (filter.exclude !== undefined) clean.exclude = texts(filter.exclude, 'filter.exclude');
  return clean;
}

export function integer(value: unknown, name: string, least: number, most: number, fallback?: number): number {
  if (value === undefined && fallback !== undefined) return fallback;
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) {
    throw invalid(`${name} must be a whole number from ${least} to ${most}, got ${show(value)}`);
  }
  return value;
}

export function oneOf<T extends string>(value: unknown, name: string, known: readonly T[]): T;
export function oneOf<T extends string, F extends string>(value: unknown, name: string, known: readonly T[], fallback: F): T | F;
export function oneOf<T extends string>(value: unknown, name: string, known: readonly T[], fallback?: string): string {
  if (value === undefined && fallback !== undefined) return fallback;
  if (!known.includes(value as T)) throw invalid(`${name} must be one of ${known.join(', ')}, got ${show(value)}`);
  return value as T;
}

export function text(value: unknown, name: string, mayBeEmpty = false): string {
  if (typeof value !== 'string' || (value === '' && !mayBeEmpty)) throw invalid(`${name} must be a ${mayBeEmpty ? '' : 'non-empty '}string, got ${show(value)}`);
  return wellFormed(value);
}

export function flag(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false, got ${show(value)}`);
  return value;
}

export function texts(value: unknown, name: string): string[] {
  if (!Array.isArray(value)) throw invalid(`${name} must be a list of strings, got ${show(value)}`);
  return value.map((item: unknown, at) => text(item, `${name}[${at}]`, true));
}

function eachOf<T extends string>(value: unknown, name: string, known: readonly T[]): T[] {
  return texts(value, name).map((item, at) => oneOf(item, `${name}[${at}]`, known));
}
