import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { bundle } from '../../../deploy/image/bundle.ts';
import { applyManifests, readManifests } from '../../../deploy/manifests.ts';
import { sizeOf } from '../../../deploy/production/sizes.ts';
import { loadAllFunctions } from '../../../knative/functions.ts';
import { imagePublished } from '../../../shared/events.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { diskImageFact } from '../../../shared/images/facts.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { bytesOf } from '../../../shared/kubernetes/quantity.ts';
import { policyRef } from '../../../shared/policy.ts';
import { type Kube, kubeClient } from '../../../shared/runtime/kube.ts';
import type { Crowd, Outside, Sent } from './crowd.ts';
import { makePlace } from './crowds.ts';
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
  /** Requests to what there is beside the API server. */
  elsewhere: number;
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
  const outside = await crowd.start?.(kube);
  const asked = () => outside?.asked() ?? { requests: 0, writes: 0 };
  const folder = await mkdtemp(join(tmpdir(), 'ot-scale-'));
  const running: Running[] = [];
  try {
    await bundle(join(folder, 'dist'));
    const main = join(folder, 'dist', 'main.mjs');
    for (const declaration of (await loadAllFunctions()).filter((one) => runsBeside(crowd, one))) {
      const memoryBytes = limitOf(declaration);
      const process = await startFunction(declaration.name, { main, folder, config, memoryBytes });
      running.push({ declaration, process, rest: Number.NaN });
    }
    const costs: Cost[] = [];
    let made = 0;
    for (const count of counts) {
      say(`${count} ${crowd.beside}`);
      await crowd.make(kube, made, count, outside?.url ?? '');
      made = count;
      await settle(running.filter(hasAudit), asked);
      for (const one of running) {
        costs.push(...(await costsOf(one, { kube, crowd, count, asked })));
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
    await outside?.stop();
    await rm(folder, { recursive: true });
  }
}

const hasAudit = ({ declaration }: Running) => declaration.on.some((one) => one.on === 'audit');

interface Beside {
  kube: Kube;
  crowd: Crowd;
  count: number;
  asked: Outside['asked'];
}

async function costsOf(running: Running, beside: Beside): Promise<Cost[]> {
  const { declaration } = running;
  const { crowd, count } = beside;
  const common = { beside: crowd.beside, count, function: declaration.name };
  const costs: Cost[] = [];
  for (const [batch, sent] of Object.entries(crowd.events)) {
    if (!hears(declaration, sent)) continue;
    const mayGrow = sent.grows?.includes(declaration.name) ?? false;
    const runs = mayGrow ? grownRuns : eventRuns;
    costs.push({ ...common, batch, mayGrow, ...(await measure(running, sent, runs, beside)) });
  }
  if (!hasAudit(running)) return costs;
  return [...costs, { ...common, batch: audit, mayGrow: false, ...(await measure(running, audit, 1, beside)) }];
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

export const runsBeside = ({ functions, events }: Crowd, declaration: FunctionDeclaration) =>
  functions?.includes(declaration.name) ?? Object.values(events).some((sent) => hears(declaration, sent));

const hears = ({ on }: FunctionDeclaration, sent: Sent) =>
  on.some((one) => {
    if ('about' in sent)
      return (
        one.on === 'changed' &&
        one.resource.kind === sent.about.kind &&
        one.resource.apiVersion === sent.about.apiVersion
      );
    return one.on === 'event' && one.type === ('fact' in sent ? diskImageFact(sent.fact) : imagePublished);
  });

/** Lets all functions do what is to be done. */
async function settle(all: readonly Running[], asked: Outside['asked']): Promise<void> {
  const writes = async () => {
    let sum = asked().writes;
    for (const { process } of all) sum += (await process.spent()).writes;
    return sum;
  };
  for (let runs = 0, before = -1; runs < mostSettling && before !== (await writes()); runs++) {
    before = await writes();
    // What is to be delivered again, the next of these is.
    for (const { process } of all) await process.send(audit).catch(() => undefined);
    // What was left for a later reconcile.
    await sleep(1000);
  }
}

async function measure(
  { process }: Running,
  sent: Sent | 'audit',
  runs: number,
  { kube, asked }: Beside,
): Promise<Spent & Pick<Cost, 'blockMs' | 'elsewhere'>> {
  const run = async () => {
    if (sent !== audit) await sent.before?.(kube);
    await process.send(sent);
  };
  // Beside the fewest objects the code would be compiled in what is measured.
  if (runs > 1) for (let warm = 0; warm < Math.min(warmingRuns, 2 * runs); warm++) await run();
  const [before, askedBefore] = [await process.spent(), asked().requests];
  await process.longestBlockMs();
  for (let done = 0; done < runs; done++) await run();
  const after = await process.spent();
  const each = (of: keyof Spent) => (after[of] - before[of]) / runs;
  const spent = { requests: each('requests'), writes: each('writes'), bytes: each('bytes'), cpuMs: each('cpuMs') };
  const elsewhere = (asked().requests - askedBefore) / runs;
  return { ...spent, elsewhere, blockMs: await process.longestBlockMs() };
}
