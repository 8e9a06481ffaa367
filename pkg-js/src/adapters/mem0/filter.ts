/** mem0's filters over the metadata of a memory. */
import { invalid } from '../../errors.js';
import { show } from '../../text.js';

type Values = { [key: string]: unknown };

const OPERATORS: { [name: string]: (value: any, wanted: any) => boolean } = {
  eq: (value, wanted) => value === wanted,
  ne: (value, wanted) => value !== wanted,
  gt: (value, wanted) => value > wanted,
  gte: (value, wanted) => value >= wanted,
  lt: (value, wanted) => value < wanted,
  lte: (value, wanted) => value <= wanted,
  in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  nin: (value, wanted) => Array.isArray(wanted) && !wanted.includes(value),
  contains: (value, wanted) => typeof value === 'string' && value.includes(String(wanted)),
  icontains: (value, wanted) => typeof value === 'string' && value.toLowerCase().includes(String(wanted).toLowerCase()),
};

export function meets(values: Values, filters: Values): boolean {
  return Object.entries(filters).every(([key, wanted]) => {
    if (key === 'AND') return lists(key, wanted).every((each) => meets(values, each));
    if (key === 'OR') return lists(key, wanted).some((each) => meets(values, each));
    if (key === 'NOT') return !lists(key, wanted).some((each) => meets(values, each));
    return wanted === undefined || holds(Object.hasOwn(values, key) ? values[key] : undefined, wanted, key);
  });
}

function holds(value: unknown, wanted: unknown, key: string): boolean {
  if (wanted === '*') return value !== undefined;
  if (Array.isArray(wanted)) return wanted.includes(value);
  if (typeof wanted !== 'object' || wanted === null) return value === wanted;
  return Object.entries(wanted).every(([name, operand]) => {
    const operator = Object.hasOwn(OPERATORS, name) ? OPERATORS[name] : undefined;
    if (!operator) throw invalid(`the filter of ${key} has the operator ${show(name)}: known are ${Object.keys(OPERATORS).join(', ')}`);
    return operator(value, operand);
  });
}

function lists(key: string, wanted: unknown): Values[] {
  if (!Array.isArray(wanted)) throw invalid(`${key} takes a list of filters, got ${show(wanted)}`);
  return wanted as Values[];
}
