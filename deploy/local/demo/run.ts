import type { VMDiskImage } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import { imageNameOf } from '../../../shared/rules/names.ts';
import { applyManifests } from '../manifests.ts';
import type { DemoView, ImageView, SlotView } from './frame.ts';
import { brokenLink, type DemoImage, demoImages, manifestOf } from './images.ts';
import { remarkOn } from './remark.ts';
import type { DemoResult, ImageResult } from './result.ts';
import { type DemoWorld, demoPolicy, setUp, where } from './set-up.ts';
import { faultsOf } from './verify.ts';
import { type Watching, watchDemo } from './watch.ts';
import { isAtRest, type WatchedImage, waitedMs } from './watched-image.ts';

export interface DemoOptions {
  /** Ends the demo early; `runDemo` then rejects with its reason, everything being taken down. */
  signal: AbortSignal;
  /** How long all of it may take. */
  timeoutMs?: number;
  /** There is something to show from now on. */
  onReady(view: () => DemoView): void;
  /** An image took a step, so long after the beginning. */
  onStep(image: ImageView, elapsedMs: number): void;
}

/** Downloads the images of the demo on a local cluster of its own, watches how, and takes it all down again. */
export async function runDemo(options: DemoOptions): Promise<DemoResult> {
  const startedMs = Date.now();
  const late = AbortSignal.timeout(options.timeoutMs ?? 60_000);
  const images = demoImages();
  const world = await setUp(images);
  const ends = new AbortController();
  try {
    options.signal.throwIfAborted();
    const demo = await watch(world, images, { ...options, startedMs, watchSignal: ends.signal });
    options.onReady(demo.view);
    for (const image of images)
      await applyManifests(world.cluster.kube, [manifestOf(image, { ...where, storeUrl: world.store.url })]);
    await Promise.race([demo.over, aborted(options.signal), aborted(late).catch(() => undefined)]);
    return demo.result(late.aborted);
  } finally {
    ends.abort();
    await world.close();
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

async function watch(
  { store, cluster }: DemoWorld,
  images: readonly DemoImage[],
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
    result: (isLate: boolean): DemoResult => resultOf(watching, images, downloaded, { startedMs, isLate }),
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
  { startedMs, isLate }: { startedMs: number; isLate: boolean },
): DemoResult {
  const nowMs = Date.now();
  const results = images.map((image) =>
    imageResult(image, watching.images.get(image.name), downloaded(image), {
      nowMs,
      startedMs,
      hasSnapshot: watching.snapshots.some((name) => imageNameOf(name) === image.name),
    }),
  );
  const sum = (field: 'bytesDownloaded' | 'bytesNeeded') => results.reduce((total, image) => total + image[field], 0);
  const result = {
    seconds: (nowMs - startedMs) / 1000,
    isLate,
    policy: demoPolicy,
    most: watching.most,
    startOrder: [...watching.startOrder],
    overtakings: [...watching.overtakings],
    leftOver: watching.leftOver(),
    bytesDownloaded: sum('bytesDownloaded'),
    bytesNeeded: sum('bytesNeeded'),
    images: results,
  };
  const faults = faultsOf(
    result,
    images.map(({ name }) => name),
  );
  return { ok: faults.length === 0, faults, ...result };
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
