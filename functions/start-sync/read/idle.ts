import { type Batch, type KnownBeside, subjectsOf } from '../../../shared/function.ts';
import { eligibleOf } from '../../../shared/images/eligible.ts';
import { contentsUnderWay } from '../../../shared/images/shared-content.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Policy } from '../../../shared/policy.ts';
import { isNew } from '../queue/new-images.ts';
import { lacksUnreachable } from '../queue/waiting.ts';
import { isActiveAttempt, volumeOf } from '../slots/occupancy.ts';
import { failQueued } from '../transition/next-transition.ts';
import {
  type HeldImage,
  hasBegunBefore,
  type ReadVolumes,
  selectHolders,
  volumesOnce,
  withImages,
} from './attempts.ts';
import { isOutdated } from './finished.ts';
import { type NamedImages, readNamed } from './named.ts';
import { ifFailed, type Reader } from './reader.ts';
import type { Slots } from './slots.ts';

interface KnownSlots extends Pick<Slots, 'policy' | 'bytesLeft'> {
  holders: readonly Holder[];
  nowMs: number;
  beside: KnownBeside;
  readVolumes: ReadVolumes;
}

/** What the events are about. */
export interface Events extends NamedImages {
  /** The holders that they may be about. */
  toRead: readonly HeldImage[];
  readVolumes: ReadVolumes;
  /** They leave nothing to do. */
  isIdle: boolean;
}

/** Undefined if the slots or the images are not known so far. */
export async function readEvents(reader: Reader, { holders, policy, bytesLeft }: Slots): Promise<Events | undefined> {
  const { kube, beside, nowMs, batch, isAboutAll } = reader;
  const named = holders && (await readNamed(reader));
  if (!named) return undefined;
  const held = withImages(holders, named.unfinished.values());
  const readVolumes = volumesOnce(kube);
  if (isAboutAll) return { ...named, toRead: held, readVolumes, isIdle: false };
  const toRead = selectHolders(batch, held);
  const idle = await isIdle(batch, named, { holders, policy, bytesLeft, nowMs, readVolumes, beside }).catch(ifFailed);
  return { ...named, toRead, readVolumes, isIdle: idle === true };
}

/**
 * Whether these events leave nothing to do: what they name is as wanted, every holder downloads, and no one waits for a free slot or is
 * new or due. So are most events: an image joins the queue, a download progresses, a snapshot is taken, users are counted. They need no
 * more reads than these.
 */
export async function isIdle(
  batch: Batch,
  { live, unfinished }: NamedImages,
  { holders, policy, bytesLeft, nowMs, beside, readVolumes }: KnownSlots,
): Promise<boolean> {
  const about = [DataVolume, Pod, VMDiskImage].flatMap((kind) => subjectsOf(batch, kind));
  if (about.length < batch.subjects.length) return false;
  const deleted = new Set(subjectsOf(batch, DataVolume).map(keyOf));
  const uids = new Set(holders.map(({ uid }) => uid));
  const isHeld = ({ metadata }: VMDiskImage) => uids.has(metadata.uid);
  if (![...live.values()].every((image) => image && isAsWanted(image, isHeld(image), policy))) return false;
  // No more is checked of each waiting image than this: there may be thousands.
  const images = [...unfinished.values()];
  const { busy, isAwaited } = beside;
  // It is looked at when it is queued, or when there is room.
  const isLeft = (image: VMDiskImage) => isNew(image) && (isAwaited || busy.has(image.metadata.uid));
  if (!images.every((image) => hasNothingDue(image, isHeld(image), nowMs) || isLeft(image))) return false;
  if (holders.length < policy.values.concurrency) {
    const underWay = contentsUnderWay(images, holders);
    if (eligibleOf(images, { holders, underWay, policy, bytesLeft, nowMs }).length > 0) return false;
  }
  const attempts = withImages(holders, images);
  if (!attempts.every(({ holder, image }) => image?.status?.phase === 'Syncing' && isActiveAttempt(holder, image)))
    return false;
  const made = attempts.flatMap(({ holder, image }) =>
    image ? [{ holder, image, name: keyOf(volumeOf(holder, image)) }] : [],
  );
  if (made.some(({ name }) => deleted.has(name))) return false;
  // An image whose status has just begun an attempt may have no DataVolume yet; one that has had an importer has one. The end of an importer
  // does not tell its image, so it may be that of any download.
  const hasImporters = subjectsOf(batch, Pod).length > 0;
  const unproven = made.filter(
    ({ image }) => hasImporters || (live.has(keyOf(image.metadata)) && image.status?.dataVolume === undefined),
  );
  if (unproven.length === 0) return true;
  const downloads = (await readVolumes(unproven)).filter(({ status }) => status?.phase !== 'Succeeded');
  const found = new Set(downloads.map(({ metadata }) => keyOf(metadata)));
  return unproven.every(({ name }) => found.has(name));
}

/** Nothing but an event or a turn changes the image. */
function hasNothingDue({ status }: VMDiskImage, isHeld: boolean, nowMs: number) {
  const { phase, nextAttemptAt } = status ?? {};
  if (phase === 'Retrying') return Date.parse(nextAttemptAt ?? '') > nowMs;
  return phase === 'Syncing' ? isHeld : phase !== undefined;
}

/** The image of an event needs nothing of start-sync: it waits for its turn, syncs in its slot, or has gone on without one. */
function isAsWanted(image: VMDiskImage, isHeld: boolean, policy: Policy) {
  const { phase } = image.status ?? {};
  // Of a finished image that is deleted, only its slot is this function's.
  if (image.metadata.deletionTimestamp) return !isHeld && phase === 'Succeeded';
  if (isOutdated(image) || lacksUnreachable(image)) return false;
  // Its classes and inputs were read when it was queued, and are read again for its turn.
  if (phase === 'Queued')
    return !isHeld && !hasBegunBefore(image) && failQueued(image, { policy, inputs: new Map() }) === undefined;
  return phase === 'Syncing' ? isHeld : !isHeld && (phase === 'Snapshotting' || phase === 'Succeeded');
}
