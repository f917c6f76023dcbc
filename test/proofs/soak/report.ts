import { type Look, lineOf, styled } from '../../../deploy/terminal/paint.ts';
import { formatSeconds } from '../../../deploy/terminal/quantities.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import { describeViolation } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';

export interface SoakResult {
  ok: boolean;
  seed: number;
  minutes: number;
  /** How often each victim was killed. */
  kills: Readonly<Record<string, number>>;
  /** The operations of users, and the results of their images. */
  done: Readonly<Record<string, number>>;
  /** Writes, by function. */
  writes: Readonly<Record<string, number>>;
  /** Changes of objects in the judged history. */
  changes: number;
  /** From the end of the faults until everything was at rest. */
  restAfterMs: number;
  notAtRest: readonly string[];
  violations: readonly Violation[];
}

const mostShown = 50;

/** The counts, then the failures, then a summary line. */
export function report(result: SoakResult, look: Look): string[] {
  const { kills, done, writes, notAtRest, violations } = result;
  return [
    '',
    ...counts('KILLED', kills, look),
    ...counts('DONE', done, look),
    ...counts('WRITES OF', writes, look),
    ...violations.slice(0, mostShown).map(describeViolation),
    ...(violations.length > mostShown ? [`and ${violations.length - mostShown} violations more`] : []),
    ...notAtRest.map((what) => `not at rest: ${what}`),
    lineOf([styled(result.ok ? 'green' : 'red', summary(result))], look),
  ];
}

function counts(title: string, of: Readonly<Record<string, number>>, look: Look): string[] {
  const rows = Object.entries(of).map(([what, count]) => [what, String(count)]);
  if (rows.length === 0) return [];
  return [...tableLines([{ title }, { title: 'TIMES', align: 'right' }], rows, look), ''];
}

const sum = (counts: Readonly<Record<string, number>>) => Object.values(counts).reduce((all, one) => all + one, 0);

export function summary({
  minutes,
  seed,
  kills,
  done,
  writes,
  changes,
  restAfterMs,
  notAtRest,
  violations,
}: SoakResult): string {
  return [
    `${minutes} min, seed ${seed}`,
    `${sum(kills)} kills`,
    `${done['images synced'] ?? 0} images synced`,
    `${sum(writes)} writes`,
    `${changes} changes`,
    notAtRest.length === 0 ? `at rest after ${formatSeconds(restAfterMs)}` : `${notAtRest.length} not at rest`,
    `${violations.length} violations`,
  ].join(', ');
}
