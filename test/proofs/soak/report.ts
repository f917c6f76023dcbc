import { type Look, lineOf, styled } from '../../../deploy/terminal/paint.ts';
import { formatSeconds } from '../../../deploy/terminal/quantities.ts';
import { tableLines } from '../../../deploy/terminal/table.ts';
import { describeViolation } from '../invariants/check.ts';
import type { Violation } from '../invariants/history.ts';

/** What came of a soak. */
export interface SoakResult {
  ok: boolean;
  seed: number;
  minutes: number;
  /** How often each victim was killed. */
  kills: Readonly<Record<string, number>>;
  /** What users did, and what came of their images. */
  done: Readonly<Record<string, number>>;
  /** Writes that were carried out, by function. */
  writes: Readonly<Record<string, number>>;
  /** Changes of objects in the history that was judged. */
  changes: number;
  /** From the end of all faults to the end of the rest that followed. */
  restAfterMs: number;
  notAtRest: readonly string[];
  violations: readonly Violation[];
}

const mostShown = 50;

/** The counts, then what is wrong, then one line that says it all. */
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

/** It all in one line. */
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
