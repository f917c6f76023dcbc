import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { imageNameOf } from '../../../shared/kubernetes/names.ts';
import { applyManifests } from '../../manifests.ts';
import { type Act, type ActOptions, conditions } from './act.ts';
import { type DemoView, type ImageView, render, type SlotView } from './frame.ts';
import { brokenLink, type DemoImage, manifestOf } from './images.ts';
import { remarkOn } from './remark.ts';
import type { DemoResult, ImageResult } from './result.ts';
import { type DemoWorld, demoPolicy, where } from './set-up.ts';
import { type Watching, watchDemo } from './watch.ts';
import { isAtRest, type WatchedImage, waitedMs } from './watched-image.ts';

/** What the first act contributes to the result. */
export type ImagesResult = Omit<DemoResult, 'ok' | 'faults' | 'seconds' | 'isLate' | 'machines' | 'workspace'>;

/** The first act: images are downloaded in turn, again after a broken connection, and never again after a 404. */
export async function beginImages(
  { images, store, cluster }: DemoWorld,
  { startedMs, watchSignal, onReady, onStep, onCommand }: ActOptions,
): Promise<Act<ImagesResult>> {
  const { changed, until } = conditions();
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
  present.watching = await watchDemo({
    kube: cluster.kube,
    namespace: where.namespace,
    signal: watchSignal,
    downloadedBytes: ({ spec }: VMDiskImage) => store.bytesSent(spec.url),
    onStep: (image) => {
      if (isHealedBy(image)) store.faults.splice(0);
      onStep(viewOf(image));
    },
    onChange: changed,
  });
  const { watching } = present;
  const view = (): DemoView => ({
    elapsedMs: Date.now() - startedMs,
    slots: slotViews(watching, images, downloaded),
    images: images.map(({ name }) => {
      const image = seen(name);
      return image ? viewOf(image) : { name, phase: '', attempts: 0, waitedMs: 0, remark: '' };
    }),
  });

  async function play() {
    onReady((look) => render(view(), look));
    onCommand('kubectl apply -f images.yaml');
    for (const image of images)
      await applyManifests(cluster.kube, [manifestOf(image, { ...where, storeUrl: store.url })]);
    await until(() => isOver(images, watching));
  }

  return { over: play(), result: () => resultOf(watching, images, downloaded, startedMs) };
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
): ImagesResult {
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
