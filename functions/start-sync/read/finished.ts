import { distinct, uniqueByName } from '../../../shared/distinct.ts';
import { subjectsOf, type Unreadable } from '../../../shared/function.ts';
import { quantileOf, rateIn } from '../../../shared/images/download-share.ts';
import { basisFrom, durationOf, snapshotDurationOf } from '../../../shared/images/forecast.ts';
import type { Holder } from '../../../shared/images/slots.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference, referenceIn, referenceOf } from '../../../shared/kinds/resource.ts';
import { orUnreadable, partition } from '../../../shared/runtime/unreadable.ts';
import type { Gathered } from '../observed.ts';
import { isUnacknowledged, lacksStalled } from '../status.ts';
import { lacksInput } from '../transition/inputs.ts';
import { lacksFinalizer } from '../transition/move.ts';
import { newRevision } from '../transition/revision.ts';
import type { Focus } from './focus.ts';
import { isAmong, type Reader, uidsOf } from './reader.ts';

export interface Finished extends Pick<Gathered, 'postponed' | 'lacking' | 'basis' | 'rate' | 'longMs' | 'snapshotMs'> {
  finished: readonly VMDiskImage[];
  unread: readonly Unreadable[];
}

/** The finished images that an event names, that still hold a slot, or whose cause of failure may be removed; at an audit all that may change. */
export const readFinished = (reader: Reader, focus: Focus, holders: readonly Holder[]): Promise<Finished> =>
  reader.batch.audit ? readAll(reader, focus, holders) : readNamedFinished(reader, focus, holders);

/** Of all finished images how long their downloads took, too, for the forecasts. */
async function readAll({ kube }: Reader, focus: Focus, holders: readonly Holder[]): Promise<Finished> {
  const isInFocus = isAmong(uidsOf(focus.images));
  const isHolder = isAmong(holders.map(({ uid }) => uid));
  const found: VMDiskImage[] = [];
  const tookMs: number[] = [];
  const rates: number[] = [];
  const snapshotsMs: number[] = [];
  for await (const { items } of kube.pages(VMDiskImage)) {
    found.push(...items.filter((image) => !isInFocus(image) && (canTransition(image) || isHolder(image))));
    tookMs.push(...items.flatMap((image) => durationOf(image) ?? []));
    rates.push(...items.flatMap((image) => rateIn(image) ?? []));
    snapshotsMs.push(...items.flatMap((image) => snapshotDurationOf(image) ?? []));
  }
  const isLater = (image: VMDiskImage) => lacksInput(image) && !isHolder(image);
  return {
    finished: found.filter((image) => !isLater(image)),
    lacking: found.filter(isLater).map(referenceOf),
    unread: [],
    basis: basisFrom(tookMs),
    rate: quantileOf(rates, 0.5),
    longMs: quantileOf(tookMs, 0.9),
    snapshotMs: quantileOf(snapshotsMs, 0.5),
  };
}

/** All but those that are as wanted. */
export const canTransition = (image: VMDiskImage) =>
  image.status?.phase === 'Failed' ||
  newRevision(image) !== undefined ||
  !image.status?.phase ||
  lacksFinalizer(image) ||
  isUnacknowledged(image) ||
  lacksStalled(image);

/** The limit of finished images that a reconcile reads because events name them. */
const namedPerReconcile = 100;

async function readNamedFinished({ kube, batch }: Reader, focus: Focus, holders: readonly Holder[]): Promise<Finished> {
  const isInFocus = isAmong(uidsOf(focus.images));
  const inFocus = new Set(focus.images.map(({ metadata }) => keyOf(metadata)));
  const wanted = [...holders.map(({ image }) => referenceIn(image)), ...subjectsOf(batch, VMDiskImage)];
  const named = distinct(wanted, keyOf).filter((ref) => !inFocus.has(keyOf(ref)));
  const [policyEvent] = subjectsOf(batch, ConfigMap);
  const imageAt = async (ref: ObjectReference) =>
    focus.live.has(keyOf(ref)) ? focus.live.get(keyOf(ref)) : kube.get(VMDiskImage, ref);
  const found = await Promise.all([
    policyEvent ? orUnreadable(policyEvent, readFailed(kube)) : [],
    ...named.slice(0, namedPerReconcile).map((ref) => orUnreadable(ref, imageAt(ref))),
  ]);
  const { read, unreadable: unread } = partition<VMDiskImage | VMDiskImage[]>(found);
  const images = uniqueByName(read.flat());
  return {
    finished: images.filter((image) => !isInFocus(image)),
    postponed: named.slice(namedPerReconcile),
    unread,
  };
}

/** Those that a change of the policy may concern: it makes no Secret. */
async function readFailed(kube: Reader['kube']): Promise<VMDiskImage[]> {
  const failed = await kube.list(VMDiskImage, { fieldSelector: 'status.phase=Failed' });
  return failed.filter((image) => !lacksInput(image));
}
