import type { CampaignResult } from './campaign.ts';
import type { Rows } from './tally.ts';

/** The result as text: the journeys with faults, the invariants that found each mistake, and the runs with each operation and fault. */
export function report(result: CampaignResult): string[] {
  const { seed, workers, seconds, cpuSeconds, runs, thinRuns, runsPerSecond, runsPerCpuSecond } = result;
  const { operations, faults, enumerated, mistakes, violations, unconfirmed } = result;
  return [
    ...titled('Each write of these journeys with a crash before, a crash after, and a lost answer:', [
      ...Object.entries(enumerated).map(
        ([name, { writes, runs: injected, violations: found }]) =>
          `  ${name}: ${writes} writes, ${injected} runs, ${found.length} violations`,
      ),
      ...Object.values(enumerated).flatMap(({ violations: found }) => found.map((message) => `    ${message}`)),
    ]),
    ...titled(
      'Deliberate mistakes, and the invariants that found them:',
      mistakes.map(({ name, caught }) =>
        caught
          ? `  ${name}: ${caught.invariants.join(', ')}, run ${caught.runs}, ${(caught.milliseconds / 1000).toFixed(1)} s`
          : `  ${name}: NOT FOUND`,
      ),
    ),
    ...violations.flatMap(({ messages, plan, seed: of, path }) => [
      `Broken, by the plans of seed ${of}, path ${path}:`,
      ...messages.map((line) => `  ${line}`),
      `  ${JSON.stringify(plan)}`,
      '',
    ]),
    ...unconfirmed.flatMap(({ messages, plan }) => [
      'Broken over an API server that checks no write, and not over a full one:',
      ...messages.map((line) => `  ${line}`),
      `  ${JSON.stringify(plan)}`,
      '',
    ]),
    ...table('operation', operations),
    ...table('fault', faults),
    `${runs} runs in ${Math.round(seconds)} s, ${Math.round(cpuSeconds)} s of CPU (${runsPerSecond.toFixed(1)} runs a second, ${runsPerCpuSecond.toFixed(1)} a second of CPU), ${workers} workers, seed ${seed}: ${violations.length} violations`,
    `${runs - thinRuns} runs over an API server that checks every write, ${thinRuns} without these checks; each violation was judged over the first`,
  ];
}

/** The width of the names in a table. */
const width = 36;

const table = (title: string, rows: Rows) => [
  `${title.padEnd(width)}    runs  violations`,
  ...Object.entries(rows).map(
    ([name, { runs, violations }]) => `${name.padEnd(width)} ${`${runs}`.padStart(7)}  ${violations}`,
  ),
  '',
];

const titled = (title: string, lines: readonly string[]) => (lines.length > 0 ? [title, ...lines, ''] : []);
