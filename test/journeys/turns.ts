import { Lease } from '../../shared/resources/coordination/lease.ts';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { holdersOf, leaseName } from '../../shared/rules/slots.ts';
import type { Change } from './history.ts';

/** An edit of `concurrency`: nobody reads it before its resourceVersion, and every pass that begins after its answer does. */
export interface Edit {
  limit: number;
  resourceVersion: string;
  answeredMs: number;
}

/** Who was let in by one write of the slot Lease, in their order there. */
interface Grant {
  uids: readonly string[];
  holders: number;
  /** When the pass that wrote it began: it read the policy after that. */
  begunMs: number;
  lease: Lease;
}

/** The first image that was let in before another that waited longer (reliability invariant S4), or undefined. */
export function overtakingIn(changes: readonly Change[]): string | undefined {
  const places = placesIn(changes);
  const waiting = new Set<string>();
  let holders: readonly string[] = [];
  for (const change of changes) {
    const { type, object } = change;
    if (object.kind === VMDiskImage.kind) {
      if (type === 'ADDED') waiting.add(object.metadata.uid);
      if (type === 'DELETED' || object.metadata.deletionTimestamp) waiting.delete(object.metadata.uid);
    }
    const grant = grantOf(change, holders);
    if (!grant) continue;
    for (const uid of grant.uids) {
      waiting.delete(uid);
      const place = places.get(uid) ?? '';
      const passedOver = [...waiting].find((other) => (places.get(other) ?? '') < place);
      if (passedOver) return `${uid} was let in before ${passedOver} by ${sayVersion(grant.lease)}`;
    }
    holders = uidsOf(grant.lease);
  }
  return undefined;
}

/** The first write of the Lease that let somebody in beyond the limit in force (reliability invariant S1), or undefined. */
export function excessIn(changes: readonly Change[], edits: readonly Edit[]): string | undefined {
  let holders: readonly string[] = [];
  for (const change of changes) {
    const grant = grantOf(change, holders);
    if (!grant) continue;
    if (grant.uids.length > 0) {
      const limit = limitFor(grant, edits);
      if (grant.holders > limit)
        return `${grant.holders} hold slots, allowed were ${limit}: ${sayVersion(grant.lease)}`;
    }
    holders = uidsOf(grant.lease);
  }
  return undefined;
}

/** The images in the order of the queue: by `queuedAt`, then by uid. */
export function queueOrder(changes: readonly Change[]): string[] {
  const places = placesIn(changes);
  const names = new Map(
    changes
      .filter(({ object }) => object.kind === VMDiskImage.kind)
      .map(({ object: { metadata } }) => [metadata.uid, metadata.name]),
  );
  const first = ([, a]: [string, string], [, b]: [string, string]) => (a < b ? -1 : 1);
  return [...places].sort(first).map(([uid]) => names.get(uid) ?? uid);
}

/** Each image's place in the line, as text that sorts like the queue. */
function placesIn(changes: readonly Change[]): Map<string, string> {
  const places = new Map<string, string>();
  for (const { object } of changes) {
    if (object.kind !== VMDiskImage.kind) continue;
    const { uid } = object.metadata;
    const { queuedAt } = (object as VMDiskImage).status ?? {};
    if (queuedAt && !places.has(uid)) places.set(uid, `${queuedAt} ${uid}`);
  }
  return places;
}

function grantOf({ type, object }: Change, before: readonly string[]): Grant | undefined {
  if (object.kind !== Lease.kind || object.metadata.name !== leaseName || type === 'DELETED') return undefined;
  const lease = object as Lease;
  const holders = uidsOf(lease);
  return {
    lease,
    holders: holders.length,
    uids: holders.filter((uid) => !before.includes(uid)),
    begunMs: Date.parse(lease.spec?.renewTime ?? ''),
  };
}

const uidsOf = (lease: Lease) => (holdersOf(lease) ?? []).map(({ uid }) => uid);

/** The highest limit that the pass may have read: one that was written before the Lease, and replaced after it began. */
function limitFor({ begunMs, lease }: Grant, edits: readonly Edit[]): number {
  const readable = edits.filter(({ resourceVersion }, index) => {
    const replacedMs = edits[index + 1]?.answeredMs ?? Number.POSITIVE_INFINITY;
    return Number(resourceVersion) < Number(lease.metadata.resourceVersion) && replacedMs >= begunMs;
  });
  return Math.max(0, ...readable.map(({ limit }) => limit));
}

const sayVersion = ({ metadata }: Lease) => `the Lease of resourceVersion ${metadata.resourceVersion}`;
