import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Look } from '../../terminal/paint.ts';
import type { Act, Stage } from './act.ts';
import { type Block, linesOf } from './blocks.ts';
import { demoImages } from './images.ts';
import { playImages } from './images-act.ts';
import { imagesFrame } from './images-report.ts';
import { playMachines } from './machines-act.ts';
import { machinesFrame } from './machines-report.ts';
import { playOpenStack, setUpOpenStack } from './openstack-act.ts';
import { type OpenStackResult, openStackFaults } from './openstack-report.ts';
import { type DemoResult, faultsOf } from './report.ts';
import { setUp } from './set-up.ts';
import { type StepReport, watcher } from './watcher.ts';
import { readWorkspace } from './workspace.ts';
import { playWorkspace } from './workspace-act.ts';
import { workspaceFrame } from './workspace-report.ts';

export interface DemoOptions {
  /** Ends the demo early; it then rejects with its reason, everything being taken down. */
  signal: AbortSignal;
  /** There is something else to show from now on. */
  onReady(lines: (look: Look) => string[]): void;
  /** An object or a part of one took a step, so long after the beginning. */
  onStep(step: StepReport, elapsedMs: number): void;
  /** What a user would type to do what is done now. */
  onCommand(command: string, elapsedMs: number): void;
}

/** How long all of it may take. */
const timeoutMs = 120_000;

/**
 * Downloads the images of the demo on a local cluster of its own, then has machines made of them, then a whole lab; watches
 * how, and takes it all down again.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const late = AbortSignal.timeout(timeoutMs);
  const play = stageFor(options, late);
  const world = await setUp(demoImages());
  const { kube } = world.cluster;
  try {
    options.signal.throwIfAborted();
    const images = await play(kube, (stage) => playImages(world, stage), imagesFrame);
    const machines = late.aborted ? null : await play(kube, (stage) => playMachines(world, stage), machinesFrame);
    const lab = await readWorkspace();
    const workspace = late.aborted
      ? null
      : await play(kube, (stage) => playWorkspace(world, lab, stage), workspaceFrame);
    const result = { ...images, seconds: play.elapsedMs() / 1000, isLate: late.aborted, machines, workspace };
    const faults = faultsOf(result);
    return { ok: faults.length === 0, faults, ...result };
  } finally {
    await world.close();
  }
}

/** Has a machine made on a simulated OpenStack; its steps are all that is displayed. */
export async function runOpenStackDemo(options: DemoOptions): Promise<OpenStackResult> {
  const play = stageFor(options);
  const world = await setUpOpenStack();
  try {
    const act = (stage: Stage) => playOpenStack(world, stage);
    const result = await play(world.cluster.kube, act, () => []);
    const faults = openStackFaults(result);
    return { ok: faults.length === 0, faults, seconds: play.elapsedMs() / 1000, ...result };
  } finally {
    await world.close();
  }
}

/** Plays acts as far as they come before the time is up. */
function stageFor({ signal, onReady, onStep, onCommand }: DemoOptions, late?: AbortSignal) {
  const startedMs = Date.now();
  const elapsedMs = () => Date.now() - startedMs;
  async function play<View, Result>(
    kube: Kube,
    begin: (stage: Stage) => Act<View, Result>,
    frameOf: (view: View, elapsedMs: number) => Block[],
  ): Promise<Result> {
    const ends = new AbortController();
    const report = (step: StepReport) => onStep(step, elapsedMs());
    const seen = watcher(report);
    const command = (what: string) => onCommand(what, elapsedMs());
    const act = begin({ startedMs, seen, report, command, signal: ends.signal });
    try {
      await seen.watch(kube, act.watches, ends.signal);
      onReady((look) => linesOf(frameOf(act.view(), elapsedMs()), look));
      const over = act.play();
      // If the time is up or a user stops the demo, no one awaits it.
      over.catch(() => {});
      await Promise.race([over, aborted(signal), ...(late ? [aborted(late).catch(() => undefined)] : [])]);
      return act.result();
    } finally {
      ends.abort();
    }
  }
  return Object.assign(play, { elapsedMs });
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
