import { expect } from 'vitest';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { aDataVolume, aHolder, aLease, aSnapshot, start } from '../../support/builders/images.ts';
import { check } from './check.ts';
import type { Invariant } from './follow.ts';
import type { Change, History } from './history.ts';
import { operatorNamespace, policyName } from './plain-rules.ts';

/** What was written, and what else is known of it. */
export type Written = Partial<Omit<Change, 'object' | 'type'>> & { object: KubernetesObject; isGone?: boolean };

/** What a function (or whoever) wrote. */
export const by = (writer: string, object: KubernetesObject, more: Omit<Written, 'object'> = {}): Written => ({
  object,
  by: writer,
  ...more,
});

export const gone = (object: KubernetesObject, more: Omit<Written, 'object'> = {}): Written => ({
  object,
  isGone: true,
  ...more,
});

/** A history in which these were written one a second, at the resourceVersions 101, 102, …, and which ends with the last. */
export function aHistory(
  written: readonly (Written | KubernetesObject)[],
  options: Partial<Omit<History, 'changes'>> = {},
): History {
  const known = new Set((options.before ?? []).map(({ metadata }) => metadata.uid));
  const changes = written.map((one, index): Change => {
    const { object, isGone, ...more }: Written = 'object' in one ? (one as Written) : { object: one };
    const metadata = { ...object.metadata, resourceVersion: String(101 + index) };
    const type = isGone ? 'DELETED' : known.has(metadata.uid) ? 'MODIFIED' : 'ADDED';
    if (isGone) known.delete(metadata.uid);
    else known.add(metadata.uid);
    return { type, object: { ...object, metadata }, atMs: start + index * 1000, ...more };
  });
  return { before: [], endMs: changes.at(-1)?.atMs ?? start, ...options, changes };
}

/** Nobody has anything to say of it. */
export const expectKept = (history: History) => expect(check(history)).toEqual([]);

/** Of all histories that one invariant is asked about, this breaks it, at that resourceVersion. */
export function expectBroken(invariant: Invariant, history: History, revision: string, says: string): void {
  expect(check(history, [invariant])).toEqual([
    { invariant: invariant.number, revision, says: expect.stringContaining(says) },
  ]);
}

/** The Lease with a slot for each of these images, in a pass of its own. */
let passes = 0;
export function granted(...images: readonly VMDiskImage[]): Lease {
  passes += 1;
  const lease = aLease(images.map((image) => aHolder(image, (image.status?.attempt ?? 0) || 1)));
  return { ...lease, spec: { ...lease.spec, renewTime: new Date(start + passes).toISOString() } };
}

export const aPolicy = (data: Record<string, string>): ConfigMap =>
  ConfigMap.parse({ metadata: { name: policyName, namespace: operatorNamespace, uid: 'uid-policy' }, data });

const ownerOf = ({ metadata: { name, uid } }: VMDiskImage) => ({
  apiVersion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  name,
  uid,
  controller: true,
  blockOwnerDeletion: false,
});

const owned = <T extends KubernetesObject>(object: T, image: VMDiskImage): T => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [ownerOf(image)] },
});

export const download = (image: VMDiskImage, options: Parameters<typeof aDataVolume>[1] = {}): DataVolume =>
  owned(aDataVolume(image, options), image);

export const snapshot = (image: VMDiskImage, options: Parameters<typeof aSnapshot>[1] = {}): VolumeSnapshot =>
  owned(aSnapshot(image, options), image);

/** The claim that CDI made for a DataVolume. */
export const claimOf = ({ metadata: { name, namespace, labels } }: DataVolume): PersistentVolumeClaim =>
  PersistentVolumeClaim.parse({ metadata: { name, namespace, uid: `uid-claim-${name}`, labels } });

/** The object as a request for its deletion leaves it while somebody's finalizer stands. */
export const leaving = <T extends KubernetesObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: new Date(start).toISOString() },
});
