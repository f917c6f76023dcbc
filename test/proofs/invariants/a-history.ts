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

/** An object that was written, and what else is known of the change. */
export type Written = Partial<Omit<Change, 'object' | 'type'>> & { object: KubernetesObject; isGone?: boolean };

/** What a function, or any other writer, wrote. */
export const by = (writer: string, object: KubernetesObject, more: Omit<Written, 'object'> = {}): Written => ({
  object,
  by: writer,
  ...more,
});

export const gone = (object: KubernetesObject): Written => ({ object, isGone: true });

/** A history with one change a second, at the resourceVersions 101, 102, …; it ends with the last. */
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

/** All invariants hold. */
export const expectHolds = (history: History) => expect(check(history)).toEqual([]);

/** The history breaks this invariant, and only at that resourceVersion. */
export function expectBroken(invariant: Invariant, history: History, revision: string, message: string): void {
  expect(check(history, [invariant])).toEqual([
    { invariant: invariant.number, revision, message: expect.stringContaining(message) },
  ]);
}

let leases = 0;
/** A write of the Lease with a slot for each of these images. */
export function granted(...images: readonly VMDiskImage[]): Lease {
  leases += 1;
  const lease = aLease(images.map((image) => aHolder(image, (image.status?.attempt ?? 0) || 1)));
  return { ...lease, spec: { ...lease.spec, renewTime: new Date(start + leases).toISOString() } };
}

/** Inspection is off unless `data` has another inspectTimeout. */
export const aPolicy = (data: Record<string, string>): ConfigMap =>
  ConfigMap.parse({
    metadata: { name: policyName, namespace: operatorNamespace, uid: 'uid-policy' },
    data: { inspectTimeout: '0s', ...data },
  });

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

/** The PersistentVolumeClaim that CDI created for a DataVolume. */
export const claimOf = ({ metadata: { name, namespace, labels } }: DataVolume): PersistentVolumeClaim =>
  PersistentVolumeClaim.parse({ metadata: { name, namespace, uid: `uid-claim-${name}`, labels } });

/** The object after a request for its deletion, while a finalizer keeps it. */
export const leaving = <T extends KubernetesObject>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: new Date(start).toISOString() },
});
