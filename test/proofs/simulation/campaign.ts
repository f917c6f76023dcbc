import { describeViolation } from '../invariants/check.ts';
import { roomy, type Size, usual } from './arbitrary.ts';
import { bugs } from './bugs.ts';
import { type Enumeration, enumerate, sample } from './enumerate.ts';
import { type Caught, findBug, mostRunsPerBug } from './find-bug.ts';
import { journeys, largeJourneys } from './journeys.ts';
import type { Plan } from './plan.ts';
import { search } from './search.ts';
import { count, emptyTally, type Tally } from './tally.ts';

export interface CampaignOptions {
  minutes: number;
  seed: number;
  /** Leaves out the enumeration and the mistakes. */
  onlyRuns: boolean;
  say(line: string): void;
  signal: AbortSignal;
}

/** The result of a campaign. */
export interface CampaignResult extends Tally {
  ok: boolean;
  seed: number;
  seconds: number;
  /** All cores together. */
  cpuSeconds: number;
  runsPerSecond: number;
  runsPerCpuSecond: number;
  enumerated: Record<string, Enumeration>;
  mistakes: { name: string; caught: Caught | undefined }[];
  violations: { messages: string[]; plan: Plan; seed: number; path: string }[];
}

/** Alternating sizes, so that small and large runs get their share. */
const sizes: readonly Size[] = [usual, roomy, { operations: 20, faults: 14, overtakings: 10 }];

const runsPerSeed = 500;
/** A sample of the hundreds that each has. */
const writesPerLargeJourney = 40;
const reportEveryMs = 10_000;

/** Injects a fault at every write of the small journeys, looks for each mistake, then runs random plans until the time is over. */
export async function campaign({ minutes, seed, onlyRuns, say, signal }: CampaignOptions): Promise<CampaignResult> {
  const enumerated = onlyRuns ? {} : await enumerateAll(seed, say, signal);
  const mistakes = onlyRuns ? [] : await findAll(say, signal);
  const [fromMs, cpuBefore] = [performance.now(), process.cpuUsage()];
  const untilMs = fromMs + minutes * 60_000;
  const tally = emptyTally();
  const violations: CampaignResult['violations'] = [];
  let reportedMs = fromMs;
  for (let turn = 0; performance.now() < untilMs && violations.length === 0 && !signal.aborted; turn++) {
    const from = seed + turn;
    const { counterexample } = await search({
      seed: from,
      runs: runsPerSeed,
      size: sizes[from % sizes.length] ?? usual,
      untilMs,
      signal,
      onRun: (plan, verdict) => {
        count(tally, plan, verdict);
        if (performance.now() - reportedMs < reportEveryMs) return;
        reportedMs = performance.now();
        say(`${tally.runs} runs in ${Math.round((reportedMs - fromMs) / 1000)} s, ${violations.length} violations`);
      },
    });
    if (!counterexample) continue;
    const { plan, path } = counterexample;
    violations.push({ messages: counterexample.violations.map(describeViolation), plan, seed: from, path });
  }
  const seconds = (performance.now() - fromMs) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const cpuSeconds = (user + system) / 1_000_000;
  const isAllFound = mistakes.every(({ caught }) => caught !== undefined);
  const isAllSound = Object.values(enumerated).every(({ violations: found }) => found.length === 0);
  return {
    ok: violations.length === 0 && isAllFound && isAllSound && !signal.aborted,
    seed,
    seconds,
    cpuSeconds,
    runsPerSecond: tally.runs / seconds,
    runsPerCpuSecond: tally.runs / cpuSeconds,
    ...tally,
    enumerated,
    mistakes,
    violations,
  };
}

async function enumerateAll(
  seed: number,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<CampaignResult['enumerated']> {
  const found: CampaignResult['enumerated'] = {};
  for (const [name, plan] of Object.entries(journeys)) {
    if (signal.aborted) break;
    say(`a fault at every write: ${name}`);
    found[name] = await enumerate(plan);
  }
  for (const [name, plan] of Object.entries(largeJourneys)) {
    if (signal.aborted) break;
    say(`a fault at ${writesPerLargeJourney} writes: ${name}`);
    found[name] = await sample(plan, { seed, runs: writesPerLargeJourney });
  }
  return found;
}

async function findAll(say: (line: string) => void, signal: AbortSignal): Promise<CampaignResult['mistakes']> {
  const found: CampaignResult['mistakes'] = [];
  for (const bug of bugs) {
    if (signal.aborted) break;
    say(`looking for a mistake: ${bug.name}`);
    found.push({ name: bug.name, caught: await findBug(bug, mostRunsPerBug) });
  }
  return found;
}
