import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Lease } from '../../shared/resources/coordination/lease.ts';
import type { ConfigMap } from '../../shared/resources/core/config-map.ts';
import type { Pod } from '../../shared/resources/core/pod.ts';
import { diskImageFinalizer, imageUidLabel, VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { attemptEnd } from '../../shared/rules/attempt-end.ts';
import { type Move, move, record, traceOf } from '../../shared/rules/image-status.ts';
import { dataVolumeName, digestOf } from '../../shared/rules/names.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { isValid, type Policy, sayFault } from '../../shared/rules/policy.ts';
import { freeIn, type Holder, holdersOf, leaseName, slotsAnnotation } from '../../shared/rules/slots.ts';
import { toMicroTime, toTime } from '../../shared/rules/time.ts';
import { advance, type Classes, type World } from './advance.ts';
import { dataVolumeFor } from './data-volume.ts';
import { keptBy, rebuild, type Seen, stuckPods } from './hold.ts';
import { byPlace, placesOf } from './queue.ts';

export interface Observed {
  nowMs: number;
  policy: Policy;
  policyMap: ConfigMap | undefined;
  lease: Lease | undefined;
  /** All that are not at rest, and those at rest that something may have changed for. */
  images: readonly VMDiskImage[];
  /** Of the images that hold a slot or are Syncing; all of ours where the Lease has to be rebuilt. */
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  classes: Classes | undefined;
  refusals: ReadonlyMap<string, string>;
  /** An audit tries again what the API server forbade: nothing tells when a permission or quota changes. */
  isAudit: boolean;
  holdOffMs: number;
}

/** A pass writes to this many newly seen images at most; its own writes wake the next. */
const freshPerPass = 25;

/**
 * Moves images into and out of the queue, then gives free slots to those that waited longest.
 * Order: slot (the claim) → status → DataVolume (the effect); a crash in between is taken up where it happened.
 */
export function decide(observed: Observed): Action[] {
  const { images, nowMs } = observed;
  const fresh = images.filter((image) => !image.status?.phase && !image.metadata.deletionTimestamp);
  const places = placesOf(fresh, images);
  const world: World = { ...observed, places };
  const inTurn = new Set(
    fresh
      .map(({ metadata: { uid } }) => ({ uid, queuedAt: places.get(uid) ?? '' }))
      .sort(byPlace)
      .slice(0, freshPerPass)
      .map(({ uid }) => uid),
  );
  const moved = new Map<string, VMDiskImage>();
  const inOrder = [...images].sort((a, b) => orderOf(a, places).localeCompare(orderOf(b, places)));
  const moves = inOrder.flatMap((image) => {
    const step = advance(image, world);
    if (!step) return isQueued(image) ? finalizer(image) : [];
    if (!image.status?.phase && !inTurn.has(image.metadata.uid)) return [];
    const actions = move(image, { ...step, nowMs });
    const next = afterwards(image, actions);
    // What was queued just now is judged before it may be given a slot.
    const verdict = step.to === 'Queued' ? advance(next, world) : undefined;
    const judged = verdict ? move(next, { ...verdict, nowMs }) : [];
    moved.set(image.metadata.uid, afterwards(next, judged));
    return [
      ...actions,
      // After the status: this write raises the resourceVersion that tells apart who came first within a second.
      ...finalizer(image),
      ...judged,
      ...interrupted(image, step, nowMs),
      ...rebuiltStatus(image, step),
    ];
  });
  const now = images.map((image) => moved.get(image.metadata.uid) ?? image);
  const waitsUnseen = fresh
    .filter(({ metadata }) => !inTurn.has(metadata.uid))
    .map(({ metadata }) => places.get(metadata.uid) ?? '');
  return [...policyFaults(observed), ...moves, ...slots(observed, now, waitsUnseen.sort()[0])];
}

/** New images come in the order of their places, so that whoever watches sees the queue grow as it is. */
const orderOf = ({ metadata, status }: VMDiskImage, places: ReadonlyMap<string, string>) =>
  status?.phase ? '' : (places.get(metadata.uid) ?? '');

/** The image as it will be once these actions are done, so that one pass can queue it and start it. */
function afterwards(image: VMDiskImage, actions: readonly Action[]): VMDiskImage {
  const patch = actions.find((action) => action.do === 'patchStatus')?.status ?? {};
  const status = Object.entries({ ...image.status, ...patch }).filter(([, value]) => value !== null);
  return { ...image, status: Object.fromEntries(status) };
}

/** An attempt that start-sync itself ends: by a newer revision, or because its DataVolume was refused. */
function interrupted(image: VMDiskImage, { to, reason }: { to: string; reason: string }, nowMs: number): Action[] {
  if (image.status?.phase !== 'Syncing') return [];
  const result = to === 'Failed' ? 'failure' : 'superseded';
  return attemptEnd(image, { result, reason, nowMs, isUnstarted: image.status.importer === undefined });
}

/** A status that was wiped or garbled is said to have been, once: what it held beside the attempts is lost. */
function rebuiltStatus(image: VMDiskImage, { fields }: Pick<Move, 'fields'>): Action[] {
  if (image.status?.phase || !fields?.attempt) return [];
  const message = `The status was empty or not readable; rebuilt from the DataVolumes: ${fields.attempt} attempts so far.`;
  return [record(image, true, 'StatusRebuilt', message, image.metadata.resourceVersion)];
}

const isQueued = ({ metadata, status }: VMDiskImage) => status?.phase === 'Queued' && !metadata.deletionTimestamp;

const finalizer = ({ metadata, ...image }: VMDiskImage): Action[] =>
  metadata.finalizers?.includes(diskImageFinalizer)
    ? []
    : [
        {
          do: 'patchMetadata',
          resource: VMDiskImage,
          of: { ...image, metadata },
          metadata: { finalizers: [...(metadata.finalizers ?? []), diskImageFinalizer] },
        },
      ];

/** Releases and grants in one write of the Lease, then what the granted (and the interrupted) still need. */
function slots(observed: Observed, images: readonly VMDiskImage[], firstUnseen: string | undefined): Action[] {
  const { lease, nowMs } = observed;
  const seen: Seen = { ...observed, images: new Map(images.map((image) => [image.metadata.uid, image])) };
  const held = holdersOf(lease);
  const before = held ?? rebuild(seen);
  const kept = before.filter((holder) => keptBy(holder, seen) !== undefined);
  const granted = held && mayGrant(observed) ? grants(observed, images, kept, firstUnseen) : [];
  const warnings = before
    .filter((holder) => !kept.includes(holder))
    .flatMap((holder) => stuckPods(holder, seen).map((pod) => stuckWarning(pod)));
  const isChanged = !held || kept.length !== before.length || granted.length > 0;
  const holders = [...kept, ...granted];
  return [
    ...warnings,
    ...(isChanged ? [saveLease(observed, holders, !held)] : []),
    ...(held ? [] : [rebuiltEvent(observed, holders)]),
    ...holders.flatMap((holder) => begin(holder, seen, nowMs)),
  ];
}

/** Nothing starts anew while a key it depends on does not parse, or too soon after the Lease was lost. */
function mayGrant({ policy, lease, nowMs, holdOffMs }: Observed) {
  const acquired = Date.parse(lease?.spec?.acquireTime ?? '');
  const heldOff = Number.isFinite(acquired) && nowMs - acquired < holdOffMs;
  return (
    !heldOff &&
    isValid(
      policy,
      'concurrency',
      'retryLimit',
      'retryBackoffDuration',
      'maxRetryBackoffDuration',
      'startTimeout',
      'syncTimeout',
      'allowedSources',
    )
  );
}

function grants(
  { policy, classes, nowMs }: Observed,
  images: readonly VMDiskImage[],
  kept: readonly Holder[],
  firstUnseen: string | undefined,
): Holder[] {
  if (!classes) return [];
  const holding = new Set(kept.map(({ uid }) => uid));
  return images
    .filter(
      ({ metadata, status }) => status?.phase === 'Queued' && !metadata.deletionTimestamp && !holding.has(metadata.uid),
    )
    .filter(({ status }) => firstUnseen === undefined || (status?.queuedAt ?? '') < firstUnseen)
    .sort((a, b) => byPlace(placeOf(a), placeOf(b)))
    .slice(0, freeIn(kept, policy.values.concurrency))
    .map(({ metadata, status }) => ({
      uid: metadata.uid,
      image: `${metadata.namespace}/${metadata.name}`,
      revision: status?.revision ?? 1,
      attempt: (status?.attempt ?? 0) + 1,
      since: toTime(nowMs),
    }));
}

const placeOf = ({ metadata, status }: VMDiskImage) => ({ uid: metadata.uid, queuedAt: status?.queuedAt ?? '' });

function saveLease({ lease, nowMs }: Observed, holders: readonly Holder[], isRebuilt: boolean): Action {
  const now = toMicroTime(nowMs);
  const annotations = { ...lease?.metadata.annotations, [slotsAnnotation]: JSON.stringify(holders) };
  const spec = {
    ...lease?.spec,
    holderIdentity: 'start-sync',
    renewTime: now,
    ...(isRebuilt || !lease?.spec?.acquireTime ? { acquireTime: now } : {}),
  };
  if (lease)
    return { do: 'replace', resource: Lease, object: { ...lease, metadata: { ...lease.metadata, annotations }, spec } };
  return {
    do: 'create',
    resource: Lease,
    object: {
      apiVersion: Lease.apiVersion,
      kind: Lease.kind,
      metadata: { name: leaseName, namespace: operatorNamespace, annotations },
      spec,
    },
  };
}

/** What a holder still needs: the status that says so, and the DataVolume that does it. */
function begin(holder: Holder, { images, dataVolumes }: Seen, nowMs: number): Action[] {
  const image = images.get(holder.uid);
  if (!image || keptBy(holder, { nowMs, images, dataVolumes: [], pods: [] }) !== 'status') return [];
  const { phase, attempts = 0, dataVolume, queuedAt = '' } = image.status ?? {};
  const name = dataVolumeName(image.metadata, holder.revision, holder.attempt);
  const isMade =
    dataVolume !== undefined ||
    dataVolumes.some(({ metadata }) => metadata.name === name && metadata.labels?.[imageUidLabel] === holder.uid);
  if (phase === 'Syncing' && isMade) return [];
  const trace = traceOf(image, holder.revision);
  const create: Action = {
    do: 'create',
    resource: DataVolume,
    object: dataVolumeFor(image, holder.revision, holder.attempt),
    owner: holder.uid,
    trace,
  };
  // Writing the phase that stands there changes nothing, and is refused where somebody moved the image since.
  if (phase === 'Syncing')
    return [{ do: 'patchStatus', resource: VMDiskImage, of: image, status: { phase }, trace }, create];
  const begun = move(image, {
    to: 'Syncing',
    reason: 'SyncStarted',
    message: `Downloading, attempt ${attempts + 1}.`,
    nowMs,
    fields: {
      attempt: holder.attempt,
      attempts: attempts + 1,
      startedAt: toTime(nowMs),
      progress: null,
      dataVolume: null,
      importer: null,
    },
  });
  return [...begun, create, waited(nowMs - Date.parse(queuedAt))];
}

const waited = (milliseconds: number): Action => ({
  do: 'measure',
  metric: 'ot.image.queue.wait.duration',
  value: Math.max(0, milliseconds) / 1000,
});

function policyFaults({ policy, policyMap }: Observed): Action[] {
  if (policy.faults.length === 0 || !policyMap) return [];
  const message = `${policy.faults.map(sayFault).join('; ')}. Nothing that depends on it starts until it is mended.`;
  return [
    {
      do: 'record',
      about: policyMap,
      type: 'Warning',
      reason: 'InvalidPolicy',
      message,
      once: digestOf(policy.faults),
    },
  ];
}

const stuckWarning = (pod: Pod): Action => ({
  do: 'record',
  about: pod,
  type: 'Warning',
  reason: 'SlotFreed',
  message: 'The importer has been Terminating for over 10 minutes; its slot is given on. Look at its node.',
  once: pod.metadata.uid,
});

const rebuiltEvent = ({ lease, nowMs }: Observed, holders: readonly Holder[]): Action => ({
  do: 'record',
  about: {
    apiVersion: Lease.apiVersion,
    kind: Lease.kind,
    metadata: { uid: '', resourceVersion: '', ...lease?.metadata, name: leaseName, namespace: operatorNamespace },
  },
  type: lease ? 'Warning' : 'Normal',
  reason: 'SlotsRebuilt',
  message: `The slots were ${lease ? 'not readable' : 'not there'}; rebuilt from what is downloading: ${holders.length} held.`,
  once: toTime(nowMs),
});
