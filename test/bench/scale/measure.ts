import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { bundle } from '../../../deploy/image/bundle.ts';
import { applyManifests, readManifests } from '../../../deploy/manifests.ts';
import { sizeOf } from '../../../deploy/production/sizes.ts';
import { loadFunctions } from '../../../knative/functions.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';
import { policyRef } from '../../../shared/policy.ts';
import { type Kube, kubeClient } from '../../../shared/runtime/kube.ts';
import { type Crowd, makePlace, type Sent } from './crowds.ts';
import { type FunctionProcess, type Spent, startFunction } from './process.ts';

/** What one function spent for one batch, beside this many objects. */
export interface Cost extends Spent {
  beside: string;
  count: number;
  batch: string;
  function: string;
  /** The longest time for which nothing else in the process could run. */
  blockMs: number;
  /** It is known to grow with the objects: it concerns all of them. */
  mayGrow: boolean;
}

/** Resident memory of a function's process in bytes: when it rests beside the fewest objects, and the most it ever was. */
export interface Memory {
  beside: string;
  function: string;
  rest: number;
  peak: number;
  /** What its container may have in production; and whether the process was held to it. */
  limit: number;
  isLimited: boolean;
}

export const audit = 'audit';

/** An event costs a millisecond or two, so the mean of this number is measured, after `warmingRuns`, in which its code is compiled. */
const eventRuns = 100;
const warmingRuns = 200;

/** What grows takes a second or more beside the most objects. */
const grownRuns = 5;

/** Runs of an audit until it finds nothing left to do, at most. */
const mostSettling = 100;

interface Given {
  crowd: Crowd;
  counts: readonly number[];
  config: KubeConfig;
  say(line: string): void;
}

interface Running {
  declaration: FunctionDeclaration;
  process: FunctionProcess;
  rest: number;
}

/**
 * Measures, beside each number of objects, what an event and an audit cost each function that hears of the crowd. Nothing else runs: only
 * what is posted here wakes a function, and audits first do what is to be done. The numbers must rise.
 */
export async function measureScale({
  crowd,
  counts,
  config,
  say,
}: Given): Promise<{ costs: Cost[]; memory: Memory[] }> {
  const kube = kubeClient(config);
  await prepare(kube);
  const folder = await mkdtemp(join(tmpdir(), 'ot-scale-'));
  const running: Running[] = [];
  try {
    await bundle(join(folder, 'dist'));
    const main = join(folder, 'dist', 'main.mjs');
    const concerned = (await loadFunctions()).filter((one) =>
      Object.values(crowd.events).some((sent) => hears(one, sent)),
    );
    for (const declaration of concerned) {
      const memoryBytes = limitOf(declaration);
      const process = await startFunction(declaration.name, { main, folder, config, memoryBytes });
      running.push({ declaration, process, rest: Number.NaN });
    }
    const costs: Cost[] = [];
    let made = 0;
    for (const count of counts) {
      say(`${count} ${crowd.beside}`);
      await crowd.make(kube, made, count);
      made = count;
      await settle(running.map(({ process }) => process));
      for (const one of running) {
        costs.push(...(await costsOf(one, crowd, count)));
        await one.process.scrape();
        if (count === counts[0]) {
          await sleep(500);
          one.rest = (await one.process.memory()).now;
        }
      }
    }
    const memory = running.map(async ({ declaration, process, rest }) => {
      const { peak } = await process.memory();
      const limit = limitOf(declaration);
      return { beside: crowd.beside, function: declaration.name, rest, peak, limit, isLimited: process.isLimited };
    });
    return { costs, memory: await Promise.all(memory) };
  } finally {
    for (const { process } of running) await process.stop();
    await rm(folder, { recursive: true });
  }
}

async function costsOf({ declaration, process }: Running, crowd: Crowd, count: number): Promise<Cost[]> {
  const common = { beside: crowd.beside, count, function: declaration.name };
  const costs: Cost[] = [];
  for (const [batch, sent] of Object.entries(crowd.events)) {
    if (!hears(declaration, sent)) continue;
    const mayGrow = sent.grows?.includes(declaration.name) ?? false;
    costs.push({ ...common, batch, mayGrow, ...(await measure(process, sent, mayGrow ? grownRuns : eventRuns)) });
  }
  return [...costs, { ...common, batch: audit, mayGrow: false, ...(await measure(process, audit, 1)) }];
}

const limitOf = (declaration: FunctionDeclaration) => bytesOf(sizeOf(declaration).limits.memory) ?? Number.NaN;

async function prepare(kube: Kube): Promise<void> {
  await applyManifests(kube, await readManifests('crds', 'deploy/local/crds'));
  // A kind is served a moment after its definition was accepted.
  await sleep(3000);
  await applyManifests(kube, await readManifests('deploy/base'));
  await makePlace(kube);
  // No image has a source.
  await kube.patch(ConfigMap, policyRef, { data: { networkProvider: 'bridge', inspectTimeout: '0s' } });
}

const hears = ({ on }: FunctionDeclaration, sent: Sent) =>
  on.some((one) =>
    'fact' in sent
      ? one.on === 'event' && one.type.includes(`.${sent.fact}.`)
      : one.on === 'changed' &&
        one.resource.kind === sent.about.kind &&
        one.resource.apiVersion === sent.about.apiVersion,
  );

/** Lets all functions do what is to be done. */
async function settle(processes: readonly FunctionProcess[]): Promise<void> {
  const writes = async () => {
    let sum = 0;
    for (const process of processes) sum += (await process.spent()).writes;
    return sum;
  };
  for (let runs = 0, before = -1; runs < mostSettling && before !== (await writes()); runs++) {
    before = await writes();
    for (const process of processes) await process.send('audit');
    // What was left for a later reconcile.
    await sleep(1000);
  }
}

async function measure(
  process: FunctionProcess,
  sent: Sent | 'audit',
  runs: number,
): Promise<Spent & Pick<Cost, 'blockMs'>> {
  // Beside the fewest objects the code would be compiled in what is measured.
  if (runs > 1) for (let run = 0; run < Math.min(warmingRuns, 2 * runs); run++) await process.send(sent);
  const before = await process.spent();
  await process.longestBlockMs();
  for (let run = 0; run < runs; run++) await process.send(sent);
  const after = await process.spent();
  const each = (of: keyof Spent) => (after[of] - before[of]) / runs;
  const spent = { requests: each('requests'), writes: each('writes'), bytes: each('bytes'), cpuMs: each('cpuMs') };
  return { ...spent, blockMs: await process.longestBlockMs() };
}
