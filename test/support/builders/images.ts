import { dataVolumeName, snapshotName } from '../../../shared/images/children.ts';
import { type Holder, leaseName, slotsAnnotation } from '../../../shared/images/slots.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import {
  attemptLabel,
  diskImageFinalizer,
  imageUidLabel,
  managedBy,
  revisionLabel,
  VMDiskImage,
  type VMDiskImageStatus,
} from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';

/** For functions that have nothing to do with OpenStack. */
export const noClouds = () => {
  throw new Error('expected no use of OpenStack');
};

/** The moment every test's story starts at. */
export const start = Date.parse('2026-01-01T00:00:00Z');
export const at = (seconds: number) => new Date(start + seconds * 1000).toISOString();

type Spec = VMDiskImage['spec'];

/** The lines of the policy that allow what tests ask for in a template or a publication. */
export const allowedSources = [
  'https://s3.eu-west-1.amazonaws.com/images/** s3-reader',
  'https://images.example.com/**',
].join('\n');

/** What a Secret for downloads holds, in base64. */
export const keyPair = { accessKeyId: 'a2V5', secretKey: 'c2VjcmV0' };

/** The Secret that a test's images name, as start-sync reads it. */
export const theirSecret = new Map<string, Record<string, boolean>>([
  ['Secret vmdi-farm/s3-reader', { accessKeyId: true, secretKey: true }],
]);

export interface ImageOptions {
  name?: string;
  uid?: string;
  createdAfterSeconds?: number;
  resourceVersion?: string;
  generation?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  deleted?: boolean;
  namespace?: string;
  spec?: Partial<Spec>;
  status?: VMDiskImageStatus;
}

/** An image as the API server shows it; only what the test is about need be said. */
export function aVMDiskImage(options: ImageOptions = {}): VMDiskImage {
  const {
    name = 'ubuntu',
    uid = `uid-${name}`,
    createdAfterSeconds = 0,
    resourceVersion = '10',
    generation = 1,
  } = options;
  return VMDiskImage.parse({
    metadata: {
      name,
      namespace: options.namespace ?? 'vmdi-farm',
      uid,
      resourceVersion,
      generation,
      creationTimestamp: at(createdAfterSeconds).replace('.000Z', 'Z'),
      finalizers: options.finalizers ?? [diskImageFinalizer],
      ...(options.labels ? { labels: options.labels } : {}),
      ...(options.annotations ? { annotations: options.annotations } : {}),
      ...(options.deleted ? { deletionTimestamp: at(0) } : {}),
    },
    spec: {
      storageClass: 'gp3',
      snapshotClass: 'ebs-snapshot',
      secretRef: 's3-reader',
      url: `https://s3.eu-west-1.amazonaws.com/images/${name}.qcow2`,
      sourceType: 's3',
      diskSize: '24Gi',
      ...options.spec,
    },
    ...(options.status ? { status: options.status } : {}),
  });
}

export const aClaim = ({ metadata: { name, namespace, uid, labels } }: DataVolume): PersistentVolumeClaim =>
  PersistentVolumeClaim.parse({
    metadata: {
      name,
      namespace,
      uid: `claim-${uid}`,
      resourceVersion: '21',
      labels,
      ownerReferences: [
        {
          apiVersion: DataVolume.apiVersion,
          kind: DataVolume.kind,
          name,
          uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    status: { phase: 'Pending' },
  });

/** A DataVolume of the image's newest attempt (or another), with the conditions CDI would write. */
export function aDataVolume(
  image: VMDiskImage,
  options: {
    attempt?: number;
    revision?: number;
    phase?: string;
    restartCount?: number;
    progress?: string;
    running?: { status: string; reason?: string; message?: string; lastTransitionTime?: string };
    bound?: { status: string; reason?: string; message?: string };
  } = {},
): DataVolume {
  const revision = options.revision ?? image.status?.revision ?? 1;
  const attempt = options.attempt ?? image.status?.attempt ?? 1;
  const name = dataVolumeName(image.metadata, revision, attempt);
  return DataVolume.parse({
    metadata: {
      name,
      namespace: 'vmdi-farm',
      uid: `uid-${name}`,
      resourceVersion: '20',
      labels: labelsOf(image, revision, attempt),
    },
    status: {
      phase: options.phase ?? 'ImportInProgress',
      claimName: name,
      ...(options.progress ? { progress: options.progress } : {}),
      restartCount: options.restartCount ?? 0,
      conditions: [
        { type: 'Bound', status: 'False', ...options.bound },
        { type: 'Running', status: 'True', ...options.running },
      ],
    },
  });
}

/** An importer Pod of the image's newest attempt. */
export function anImporter(
  image: VMDiskImage,
  options: {
    uid?: string;
    phase?: string;
    scratch?: boolean;
    restarts?: number;
    lastMessage?: string;
    exitCode?: number;
    leaving?: boolean;
    reason?: string;
    /** Why no node takes it. */
    nodeless?: string;
  } = {},
): Pod {
  const { revision = 1, attempt = 1 } = image.status ?? {};
  return Pod.parse({
    metadata: {
      name: `importer-${options.uid ?? 'pod-1'}`,
      namespace: 'vmdi-farm',
      uid: options.uid ?? 'pod-1',
      labels: labelsOf(image, revision, attempt),
      ...(options.leaving ? { deletionTimestamp: at(0) } : {}),
    },
    spec: {
      volumes: options.scratch ? [{ name: 'scratch', persistentVolumeClaim: { claimName: 'prime-x-scratch' } }] : [],
    },
    status: {
      ...(options.nodeless
        ? {
            conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: options.nodeless }],
          }
        : {}),
      phase: options.phase ?? 'Running',
      ...(options.reason ? { reason: options.reason } : {}),
      containerStatuses: [
        {
          restartCount: options.restarts ?? 0,
          ...(options.lastMessage
            ? {
                lastState: {
                  terminated: { exitCode: options.exitCode ?? 1, reason: 'Error', message: options.lastMessage },
                },
              }
            : {}),
        },
      ],
    },
  });
}

export function aSnapshot(
  image: VMDiskImage,
  options: {
    revision?: number;
    attempt?: number;
    ready?: boolean;
    error?: string;
    leaving?: boolean;
    createdAfterSeconds?: number;
  } = {},
): VolumeSnapshot {
  const revision = options.revision ?? image.status?.revision ?? 1;
  const attempt = options.attempt ?? image.status?.attempt ?? 1;
  const name = snapshotName(image.metadata, revision);
  return VolumeSnapshot.parse({
    metadata: {
      name,
      namespace: 'vmdi-farm',
      uid: `uid-${name}`,
      creationTimestamp: at(options.createdAfterSeconds ?? 0),
      labels: { ...managedBy, [imageUidLabel]: image.metadata.uid, [revisionLabel]: String(revision) },
      ...(options.leaving ? { deletionTimestamp: at(0) } : {}),
    },
    spec: { source: { persistentVolumeClaimName: dataVolumeName(image.metadata, revision, attempt) } },
    status: {
      readyToUse: options.ready ?? false,
      ...(options.ready ? { restoreSize: '24Gi' } : {}),
      ...(options.error ? { error: { message: options.error } } : {}),
    },
  });
}

/** The Lease with these holders, taken long ago. */
export const aLease = (holders: readonly Holder[] | string, acquiredAfterSeconds = -3600): Lease =>
  Lease.parse({
    metadata: {
      name: leaseName,
      namespace: 'sync-operator',
      uid: 'uid-lease',
      resourceVersion: '5',
      annotations: { [slotsAnnotation]: typeof holders === 'string' ? holders : JSON.stringify(holders) },
    },
    spec: { acquireTime: at(acquiredAfterSeconds) },
  });

export const aHolder = (image: VMDiskImage, attempt = 1): Holder => ({
  uid: image.metadata.uid,
  image: `${image.metadata.namespace}/${image.metadata.name}`,
  revision: image.status?.revision ?? 1,
  attempt,
  since: at(0),
});

const labelsOf = (image: VMDiskImage, revision: number, attempt: number) => ({
  ...managedBy,
  [imageUidLabel]: image.metadata.uid,
  [revisionLabel]: String(revision),
  [attemptLabel]: String(attempt),
});
