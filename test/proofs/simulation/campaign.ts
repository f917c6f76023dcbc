import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import { bugs } from './bugs.ts';
import type { Enumeration } from './enumerate.ts';
import type { Caught } from './find-bug.ts';
import { journeys, largeJourneys } from './journeys.ts';
import { addTo, emptyTally, type Tally } from './tally.ts';
import type { Searched } from './task.ts';
import { Threads } from './threads.ts';

export interface CampaignOptions {
  minutes: number;
  seed: number;
  /** The number of threads. */
  workers: number;
  /** Leaves out the enumeration and the mistakes. */
  onlyRuns: boolean;
  say(line: string): void;
  signal: AbortSignal;
}

export interface CampaignResult extends Tally {
  ok: boolean;
  seed: number;
  workers: number;
  seconds: number;
  /** All cores together. */
  cpuSeconds: number;
  runsPerSecond: number;
  runsPerCpuSecond: number;
  enumerated: Record<string, Enumeration>;
  mistakes: { name: string; caught: Caught | undefined }[];
  violations: NonNullable<Searched['broken']>[];
}

const runsPerSeed = 500;
/** A sample of the hundreds that each has. */
const writesPerLargeJourney = 40;
const reportEveryMs = 10_000;

/** Injects a fault at every write of the small journeys, looks for each mistake, then runs random plans until the time is over. */
export async function campaign(options: CampaignOptions): Promise<CampaignResult> {
  const { seed, workers, onlyRuns, signal } = options;
  const threads = new Threads(workers);
  signal.addEventListener('abort', threads.stop);
  try {
    const enumerated = onlyRuns ? {} : await enumerateAll(threads, options);
    const mistakes = onlyRuns ? [] : await findAll(threads, options);
    const [fromMs, cpuBefore] = [performance.now(), process.cpuUsage()];
    const { tally, violations } = await searchAll(threads, options);
    const seconds = (performance.now() - fromMs) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1_000_000;
    const isAllFound = mistakes.every(({ caught }) => caught !== undefined);
    const isAllSound = Object.values(enumerated).every(({ violations: found }) => found.length === 0);
    return {
      ok: violations.length === 0 && isAllFound && isAllSound && !signal.aborted,
      seed,
      workers,
      seconds,
      cpuSeconds,
      runsPerSecond: tally.runs / seconds,
      runsPerCpuSecond: tally.runs / cpuSeconds,
      ...tally,
      enumerated,
      mistakes,
      violations,
    };
  } finally {
    signal.removeEventListener('abort', threads.stop);
    await threads.end();
  }
}

const namesOf = <T extends object>(journeys: T) => Object.keys(journeys) as (keyof T & string)[];

async function enumerateAll(threads: Threads, { seed, say, signal }: CampaignOptions) {
  const found: CampaignResult['enumerated'] = {};
  await mapConcurrently(namesOf(journeys), threads.count, async (journey) => {
    if (signal.aborted) return;
    say(`a fault at every write: ${journey}`);
    found[journey] = await threads.run({ do: 'inject', journey });
  });
  await mapConcurrently(namesOf(largeJourneys), threads.count, async (journey) => {
    if (signal.aborted) return;
    say(`a fault at ${writesPerLargeJourney} writes: ${journey}`);
    found[journey] = await threads.run({ do: 'injectSome', journey, seed, runs: writesPerLargeJourney });
  });
  return found;
}

async function findAll(threads: Threads, { say, signal }: CampaignOptions): Promise<CampaignResult['mistakes']> {
  const found = await mapConcurrently(bugs, threads.count, async ({ name }) => {
    if (signal.aborted) return [];
    say(`looking for a mistake: ${name}`);
    return [{ name, caught: await threads.run({ do: 'find', mistake: name }) }];
  });
  return found.flat();
}

/** Each thread takes the next seed. */
async function searchAll(threads: Threads, { minutes, seed, say, signal }: CampaignOptions) {
  const fromMs = Date.now();
  const untilMs = fromMs + minutes * 60_000;
  const tally = emptyTally();
  const violations: CampaignResult['violations'] = [];
  const report = () =>
    say(`${threads.runs} runs in ${Math.round((Date.now() - fromMs) / 1000)} s, ${violations.length} violations`);
  const reporting = setInterval(report, reportEveryMs);
  let next = seed;
  const searching = async () => {
    while (Date.now() < untilMs && violations.length === 0 && !signal.aborted) {
      const found = await threads.run({ do: 'search', seed: next++, runs: runsPerSeed, untilMs });
      addTo(tally, found.tally);
      if (!found.broken) continue;
      violations.push(found.broken);
      threads.stop();
    }
  };
  try {
    await Promise.all(Array.from({ length: threads.count }, searching));
  } finally {
    clearInterval(reporting);
  }
  return { tally, violations };
}
