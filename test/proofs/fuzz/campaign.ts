import * as fc from 'fast-check';
import { fieldsOf } from './arbitrary-of.ts';
import { startFuzzCluster } from './cluster.ts';
import type { Violation } from './judges.ts';
import { authoredKinds, type Plan, plans } from './plan.ts';
import { type Ran, Runner } from './run.ts';

export interface FuzzOptions {
  /** No run begins after that time. */
  untilMs: number;
  seed: number;
  /** The most runs. */
  runs?: number;
  mistake?: string;
  say(line: string): void;
  signal: AbortSignal;
}

/** A plan that broke something, as small as it became. */
interface Broken {
  seed: number;
  plan: Plan;
  violations: Violation[];
  /** Whether it breaks the same on a cluster of its own. */
  isRepeatable: boolean;
}

export interface FuzzResult {
  ok: boolean;
  seed: number;
  seconds: number;
  /** Of functions, clusters and judges together. */
  cpuSeconds: number;
  runs: number;
  steps: number;
  accepted: Record<string, number>;
  refused: Record<string, number>;
  refusals: Record<string, number>;
  /** Of each kind the fields of its spec that an accepted object had, of all that it has, and those that none had. */
  fields: Record<string, { seen: number; all: number; unseen: string[] }>;
  /** Writes of functions, by function and kind. */
  writes: Record<string, number>;
  /** Answers of functions other than that all is well. */
  answers: Record<string, number>;
  /** What functions logged as errors, without names and numbers. */
  errors: Record<string, number>;
  /** The reasons that functions gave in conditions Ready, by kind. */
  reasons: Record<string, number>;
  longestBlockMs: number;
  longestDecideMs: Record<string, number>;
  broken: Broken[];
}

/** A cluster keeps what its runs leave, so that a new one begins after this many. */
const runsPerCluster = 100;
const reportEveryMs = 10_000;
/** To make a plan smaller takes a cluster for each try. */
const shrinkForMs = 180_000;

/** Runs plans by chance until the time is over; a plan that breaks something is run again alone and made smaller. */
export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, untilMs, runs = Number.POSITIVE_INFINITY, say, signal } = options;
  const [fromMs, cpuBefore] = [Date.now(), process.cpuUsage()];
  const tally = new Tally();
  const broken: Broken[] = [];
  const report = () =>
    say(`${tally.described()}, ${broken.length} violations, ${Math.round((Date.now() - fromMs) / 1000)} s`);
  const reporting = setInterval(report, reportEveryMs);
  const isOver = () => Date.now() >= untilMs || tally.runs >= runs || broken.length > 0 || signal.aborted;
  try {
    for (let round = seed; !isOver(); round++) {
      const found = await oneCluster(round, options, (ran, plan) => {
        tally.add(ran, plan);
        return isOver();
      });
      if (!found) continue;
      say(`broken: ${found.violations.map(({ message }) => message).join('; ')}; making the plan smaller`);
      broken.push(await smaller(round, found, options));
    }
  } finally {
    clearInterval(reporting);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    ok: broken.length === 0 && !signal.aborted,
    seed,
    seconds: (Date.now() - fromMs) / 1000,
    cpuSeconds: (user + system) / 1_000_000,
    ...tally.result(),
    broken,
  };
}

interface Found {
  index: number;
  plan: Plan;
  violations: Violation[];
}

async function oneCluster(
  seed: number,
  { mistake }: FuzzOptions,
  onRun: (ran: Ran, plan: Plan) => boolean,
): Promise<Found | undefined> {
  const cluster = await startFuzzCluster(mistake);
  const runner = new Runner(cluster);
  try {
    for (const [index, plan] of fc.sample(plans, { seed, numRuns: runsPerCluster }).entries()) {
      const ran = await runner.run(plan);
      const isOver = onRun(ran, plan);
      if (ran.violations.length > 0) return { index, plan, violations: ran.violations };
      if (isOver) return undefined;
    }
    return undefined;
  } finally {
    await cluster.close();
  }
}

/** Runs a plan on a cluster of its own. */
export async function runAlone(plan: Plan, mistake?: string): Promise<Violation[]> {
  const cluster = await startFuzzCluster(mistake);
  try {
    return (await new Runner(cluster).run(plan)).violations;
  } finally {
    await cluster.close();
  }
}

async function smaller(
  seed: number,
  { index, plan, violations }: Found,
  { mistake, signal }: FuzzOptions,
): Promise<Broken> {
  const judges = new Set(violations.map(({ judge }) => judge));
  let least: Pick<Broken, 'plan' | 'violations'> | undefined;
  const property = fc.asyncProperty(plans, async (tried) => {
    if (signal.aborted) return true;
    const again = (await runAlone(tried, mistake)).filter(({ judge }) => judges.has(judge));
    if (again.length === 0) return true;
    least = { plan: tried, violations: again };
    return false;
  });
  await fc.check(property, { seed, path: String(index), numRuns: 1, interruptAfterTimeLimit: shrinkForMs });
  return { seed, ...(least ?? { plan, violations }), isRepeatable: least !== undefined };
}

class Tally {
  runs = 0;
  #steps = 0;
  readonly #counts = {
    accepted: {} as Record<string, number>,
    refused: {} as Record<string, number>,
    refusals: {} as Record<string, number>,
    writes: {} as Record<string, number>,
    answers: {} as Record<string, number>,
    errors: {} as Record<string, number>,
    reasons: {} as Record<string, number>,
  };
  readonly #fields = new Set<string>();
  #longestBlockMs = 0;
  readonly #longestDecideMs: Record<string, number> = {};

  add({ observation, fields, accepted, refused, refusals }: Ran, plan: Plan): void {
    this.runs++;
    this.#steps += plan.length;
    for (const [what, counted] of Object.entries({ accepted, refused, refusals }))
      for (const [key, count] of Object.entries(counted))
        this.#count(what as 'accepted' | 'refused' | 'refusals', key, count);
    for (const field of fields) this.#fields.add(field);
    for (const { name, status } of observation.answers) this.#count('answers', `${name} ${status}`);
    for (const line of observation.logs.filter((one) => one.includes('"level":"error"')))
      this.#count('errors', line.replace(/\d+|tenant-[-\w]*/g, '…').slice(0, 300));
    for (const { isFunction, by, resource, object } of observation.writes) {
      if (!isFunction) continue;
      this.#count('writes', `${by} ${resource}`);
      const { conditions = [] } =
        (object as { status?: { conditions?: { type: string; reason: string }[] } })?.status ?? {};
      for (const { type, reason } of conditions)
        if (type === 'Ready') this.#count('reasons', `${object?.kind} ${reason}`);
    }
    this.#longestBlockMs = Math.max(this.#longestBlockMs, observation.longestBlockMs);
    for (const [name, took] of Object.entries(observation.longestDecideMs))
      this.#longestDecideMs[name] = Math.max(this.#longestDecideMs[name] ?? 0, took);
  }

  #count(
    what: 'accepted' | 'refused' | 'refusals' | 'writes' | 'answers' | 'errors' | 'reasons',
    key: string,
    count = 1,
  ): void {
    this.#counts[what][key] = (this.#counts[what][key] ?? 0) + count;
  }

  described = () =>
    `${this.runs} runs, ${sum(this.#counts.accepted)} writes of authors accepted, ${sum(this.#counts.refused)} refused`;

  result() {
    const fields = Object.fromEntries(
      [...authoredKinds].map(([id, { spec }]) => {
        const all = fieldsOf(spec);
        const unseen = all.filter((path) => !this.#fields.has(`${id}${path}`));
        return [id, { seen: all.length - unseen.length, all: all.length, unseen }];
      }),
    );
    const { runs } = this;
    return {
      ...{ runs, steps: this.#steps, fields, ...this.#counts },
      ...{ longestBlockMs: this.#longestBlockMs, longestDecideMs: this.#longestDecideMs },
    };
  }
}

export const sum = (counts: Readonly<Record<string, number>>) =>
  Object.values(counts).reduce((all, one) => all + one, 0);
