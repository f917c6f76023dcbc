import { tableLines } from '../../terminal/table.ts';
import type { Requirement } from './requirement.ts';

const words = { ok: 'ok', warning: 'look', optional: 'left out', missing: 'MISSING' } as const;
const whole = { columns: Number.POSITIVE_INFINITY, colour: false };

/** The check as a table, then what to do about each problem. */
export function requirementLines(requirements: readonly Requirement[]): string[] {
  const columns = ['', 'WHAT', 'EXPECTED', 'FOUND'].map((title) => ({ title }));
  const rows = requirements.map(({ result, name, expected, found }) => [words[result], name, expected, found]);
  const remedies = requirements.filter(({ result }) => result !== 'ok').map(({ name, remedy }) => `${name}: ${remedy}`);
  return [...tableLines(columns, rows, whole), ...(remedies.length > 0 ? ['', ...remedies] : [])];
}
