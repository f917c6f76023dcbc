import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { imageNameOf } from '../../../shared/kubernetes/names.ts';
import { applyManifests } from '../../manifests.ts';
import type { Look } from '../../terminal/paint.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { type DemoView, type ImageView, render, type SlotView } from './frame.ts';
import { brokenLink, type DemoImage, demoImages, manifestOf } from './images.ts';
import { renderMachines } from './machines-frame.ts';
import { remarkOn } from './remark.ts';
import type { DemoResult, ImageResult } from './result.ts';
import { beginMachines } from './run-machines.ts';
import { beginWorkspace } from './run-workspace.ts';
import { type DemoWorld, demoPolicy, setUp, where } from './set-up.ts';
import { faultsOf } from './verify.ts';
import { machinesFaults } from './verify-machines.ts';
import { workspaceFaults } from './verify-workspace.ts';
import { type Watching, watchDemo } from './watch.ts';
import { isAtRest, type WatchedImage, waitedMs } from './watched-image.ts';
import { renderWorkspace } from './workspace-frame.ts';

export interface DemoOptions {
  /** Ends the demo early; `runDemo` then rejects with its reason, everything being taken down. */
  signal: AbortSignal;
  /** How long all of it may take. */
  timeoutMs?: number;
  /** There is something else to show from now on. */
  onReady(lines: (look: Look) => string[]): void;
  /** An image, a machine, a lab or a part of it took a step, so long after the beginning. */
  onStep(step: Step, elapsedMs: number): void;
  /** What a user would type to do what is done now. */
  onCommand(command: string, elapsedMs: number): void;
}

/** What is said of something when it takes a step. */
export interface Step {
  name: string;
  phase: ShownPhase;
  remark: string;
}

/**
 * Downloads the images of the demo on a local cluster of its own, then has machines made of them, then a whole lab; watches
 * how, and takes it all down again.
 */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const startedMs = Date.now();
  const late = AbortSignal.timeout(options.timeoutMs ?? 120_000);
  const images = demoImages();
  const world = await setUp(images);
  const ends = new AbortController();
  const imagesDone = new AbortController();
  const inTime = async (act: Promise<void>) => {
    await Promise.race([act, aborted(options.signal), aborted(late).catch(() => undefined)]);
  };
  try {
    options.signal.throwIfAborted();
    const watchImages = AbortSignal.any([ends.signal, imagesDone.signal]);
    const first = await watch(world, { ...options, startedMs, watchSignal: watchImages });
    options.onReady((look) => render(first.view(), look));
    options.onCommand('kubectl apply -f images.yaml', Date.now() - startedMs);
    for (const image of images)
      await applyManifests(world.cluster.kube, [manifestOf(image, { ...where, storeUrl: world.store.url })]);
    await inTime(first.over);
    const downloaded = first.result();
    imagesDone.abort();
    const stage = { ...options, startedMs, ends, late, inTime };
    const machines = (await play((more) => beginMachines(world, more), renderMachines, stage)) ?? null;
    const workspace = (await play((more) => beginWorkspace(world, more), renderWorkspace, stage)) ?? null;
    return judged({ ...downloaded, ...ended(startedMs, late), machines, workspace }, images);
  } finally {
    ends.abort();
    await world.close();
  }
}

/** What the acts after the first are given. */
interface Stage extends DemoOptions {
  startedMs: number;
  /** The end of the whole demo. */
  ends: AbortController;
  late: AbortSignal;
  inTime(act: Promise<void>): Promise<void>;
}

/** An act as far as it comes; undefined where there is no time left for it. */
async function play<View, Result>(
  begin: (options: ActOptions<View>) => Promise<{ over: Promise<void>; result(): Result }>,
  draw: (view: View, look: Look) => string[],
  { startedMs, ends, late, inTime, onReady, onStep, onCommand }: Stage,
): Promise<Result | undefined> {
  if (late.aborted) return undefined;
  const done = new AbortController();
  const act = await begin({
    startedMs,
    watchSignal: AbortSignal.any([ends.signal, done.signal]),
    onReady: (view) => onReady((look) => draw(view(), look)),
    onStep: (step) => onStep(step, Date.now() - startedMs),
    onCommand: (command) => onCommand(command, Date.now() - startedMs),
  });
  await inTime(act.over);
  const result = act.result();
  done.abort();
  return result;
}

interface ActOptions<View> {
  startedMs: number;
  watchSignal: AbortSignal;
  onReady(view: () => View): void;
  onStep(step: Step): void;
  onCommand(command: string): void;
}

const ended = (startedMs: number, late: AbortSignal) => ({
  seconds: (Date.now() - startedMs) / 1000,
  isLate: late.aborted,
});

function judged(result: Omit<DemoResult, 'ok' | 'faults'>, images: readonly DemoImage[]): DemoResult {
  const { machines, workspace } = result;
  const applied = images.map(({ name }) => name);
  const faults = [
    ...faultsOf(result, applied),
    ...(machines ? machinesFaults(machines) : ['machines: expected the second act, found no time left for it']),
    ...(workspace ? workspaceFaults(workspace) : ['workspace: expected the third act, found no time left for it']),
  ];
  return { ok: faults.length === 0, faults, ...result };
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function watch(
  { images, store, cluster }: DemoWorld,
  { startedMs, watchSignal, onStep }: DemoOptions & { startedMs: number; watchSignal: AbortSignal },
) {
  const over = Promise.withResolvers<void>();
  const downloaded = ({ bucket, key }: DemoImage) => store.bytesSent(`${bucket}/${key}`);
  const present: { watching?: Watching } = {};
  const seen = (name: string) => present.watching?.images.get(name);
  const viewOf = (image: WatchedImage): ImageView => ({
    name: image.name,
    phase: image.phase,
    attempts: image.attempts,
    waitedMs: waitedMs(image, Date.now()),
    remark: remarkOn(image, present.watching?.images.values() ?? []),
  });
  const lookForEnd = () => {
    if (present.watching && isOver(images, present.watching)) over.resolve();
  };
  present.watching = await watchDemo({
    kube: cluster.kube,
    namespace: where.namespace,
    signal: watchSignal,
    downloadedBytes: ({ spec }: VMDiskImage) => store.bytesSent(spec.url),
    onStep: (image) => {
      if (isHealedBy(image)) store.faults.splice(0);
      onStep(viewOf(image), Date.now() - startedMs);
    },
    onChange: lookForEnd,
  });
  const { watching } = present;
  return {
    over: over.promise,
    view: (): DemoView => ({
      elapsedMs: Date.now() - startedMs,
      slots: slotViews(watching, images, downloaded),
      images: images.map(({ name }) => {
        const image = seen(name);
        return image ? viewOf(image) : { name, phase: '', attempts: 0, waitedMs: 0, remark: '' };
      }),
    }),
    result: () => resultOf(watching, images, downloaded, startedMs),
  };
}

/** Attempts are counted, not downloads: an importer that fails begins anew at once, until its attempt is cleared away. */
const isHealedBy = ({ name, phase, attempts }: WatchedImage) =>
  name === brokenLink.name && phase === 'Queued' && attempts >= brokenLink.failures;

/** All images are at rest, their snapshots ready, and nothing else is left. */
function isOver(images: readonly DemoImage[], watching: Watching): boolean {
  const found = [...watching.images.values()];
  return found.length === images.length && found.every(isAtRest) && watching.leftOver().length === 0;
}

function slotViews(
  { holders, images: seen }: Watching,
  images: readonly DemoImage[],
  downloaded: (image: DemoImage) => number,
): (SlotView | undefined)[] {
  return Array.from({ length: Math.max(demoPolicy.concurrency, holders.length) }, (_, index) => {
    const name = holders[index]?.image.split('/')[1];
    const image = images.find((candidate) => candidate.name === name);
    if (!name || !image) return undefined;
    const begun = seen.get(name)?.steps.findLast(({ phase }) => phase === 'Syncing');
    return {
      name,
      attempt: holders[index]?.attempt ?? 1,
      downloadedBytes: begun ? downloaded(image) - begun.downloadedBytes : 0,
      neededBytes: image.content?.length ?? 0,
    };
  });
}

function resultOf(
  watching: Watching,
  images: readonly DemoImage[],
  downloaded: (image: DemoImage) => number,
  startedMs: number,
): Omit<DemoResult, 'ok' | 'faults' | 'seconds' | 'isLate' | 'machines' | 'workspace'> {
  const nowMs = Date.now();
  const results = images.map((image) =>
    imageResult(image, watching.images.get(image.name), downloaded(image), {
      nowMs,
      startedMs,
      hasSnapshot: watching.snapshots.some((name) => imageNameOf(name) === image.name),
    }),
  );
  const sum = (field: 'bytesDownloaded' | 'bytesNeeded') => results.reduce((total, image) => total + image[field], 0);
  return {
    policy: demoPolicy,
    most: watching.most,
    startOrder: [...watching.startOrder],
    overtakings: [...watching.overtakings],
    leftOver: watching.leftOver(),
    bytesDownloaded: sum('bytesDownloaded'),
    bytesNeeded: sum('bytesNeeded'),
    images: results,
  };
}

function imageResult(
  { name, content, expected }: DemoImage,
  seen: WatchedImage | undefined,
  bytesDownloaded: number,
  { nowMs, startedMs, hasSnapshot }: { nowMs: number; startedMs: number; hasSnapshot: boolean },
): ImageResult {
  const bytesNeeded = content?.length ?? 0;
  return {
    name,
    phase: seen?.phase ?? '',
    expected,
    attempts: seen?.attempts ?? 0,
    waitedSeconds: seen ? waitedMs(seen, nowMs) / 1000 : 0,
    bytesDownloaded,
    bytesNeeded,
    ratio: bytesNeeded > 0 ? bytesDownloaded / bytesNeeded : null,
    hasSnapshot,
    reason: seen?.reason ?? '',
    message: seen?.message ?? '',
    steps: (seen?.steps ?? []).map(({ phase, atMs }) => ({ phase, atSeconds: (atMs - startedMs) / 1000 })),
  };
}
