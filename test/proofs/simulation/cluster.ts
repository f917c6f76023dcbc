import type { ClusterState } from '../../../deploy/local/api-server/cluster-state.ts';
import { createObject } from '../../../deploy/local/api-server/create-object.ts';
import { customKinds } from '../../../deploy/local/api-server/custom-kinds.ts';
import { type Kind, KindRegistry } from '../../../deploy/local/api-server/kind.ts';
import { builtInKinds } from '../../../deploy/local/api-server/kinds.ts';
import type { ApiObject } from '../../../deploy/local/api-server/objects.ts';
import { Store } from '../../../deploy/local/api-server/store.ts';
import { systemWrite } from '../../../deploy/local/api-server/system-change.ts';
import type { Clock } from '../../../deploy/local/clock.ts';
import { readManifests } from '../../../deploy/manifests.ts';
import { leaseRef, slotsAnnotation } from '../../../shared/images/slots.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { StorageClass } from '../../../shared/kinds/storage/storage-class.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { policyName } from '../../../shared/policy.ts';

/** The namespaces of images and machines. */
export const imageNamespace = 'vmdi-farm';
export const machineNamespace = 'lab';

const definitions = await readManifests('crds', 'deploy/local/crds');
/** Compiled once: kinds have no state. */
const checkedKinds = new KindRegistry([
  ...builtInKinds,
  ...definitions.flatMap((definition) => customKinds(definition as unknown as ApiObject)),
]);
const thinKinds = (isRecorded: (kind: Kind) => boolean) =>
  new KindRegistry(checkedKinds.all().map((kind) => ({ ...kind, isUnchecked: true, isUnrecorded: !isRecorded(kind) })));
const unrecordedKinds = thinKinds(() => false);
/** What is published is applied without force: whose fields those of an image are decides what it may change. */
const kindsToPublish = thinKinds(({ kind }) => kind === VMDiskImage.kind);

/** How much the API server does: all; no validation and no managedFields; the same, but for those of images. */
export type Thinness = 'whole' | 'thin' | 'thin, to publish';
const kindsOf: Readonly<Record<Thinness, KindRegistry>> = {
  whole: checkedKinds,
  thin: unrecordedKinds,
  'thin, to publish': kindsToPublish,
};

/** Short times, so that a run waits for few sweeps. */
export const soundPolicy: Readonly<Record<string, string>> = {
  concurrency: '2',
  retryLimit: '2',
  retryBackoffDuration: '10s',
  maxRetryBackoffDuration: '40s',
  startTimeout: '60s',
  syncTimeout: '2m',
  snapshotTimeout: '90s',
  // Most runs inspect nothing, so that images meet at the slots at once.
  inspectTimeout: '0s',
  imageNamespaces: imageNamespace,
  allowedSources: 'https://s3.eu-west-1.amazonaws.com/images/** s3-reader',
  imageStorageClass: 'gp3',
  imageSnapshotClass: 'ebs-snapshot',
  imageSecretRef: 's3-reader',
  imageDiskSize: '64Mi',
  unsignedPublications: 'Accept',
  prune: 'Never',
  pruneAfter: '60s',
  workspaceImagesKeptFor: '0s',
  machineFailedAfter: '1m',
  machineUnschedulableAfter: '2m',
};

export const storageClass = { metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' };
export const snapshotClass = {
  metadata: { name: 'ebs-snapshot' },
  driver: 'ebs.csi.aws.com',
  deletionPolicy: 'Delete',
};

/**
 * The local cluster's API server without HTTP: its store, kinds and rules, with the objects that every cluster has. A thin one
 * validates nothing and records no managedFields that no one asks for, which takes a third of the time away.
 */
export async function startCluster(
  clock: Clock,
  newUid: () => string,
  thinness: Thinness = 'whole',
  policy: Readonly<Record<string, string>> = {},
): Promise<ClusterState> {
  const kinds = kindsOf[thinness];
  const state: ClusterState = { store: new Store(100_000), kinds, clock, admission: [], newUid };
  const write = { ...systemWrite('system:admin'), fieldManager: 'admin' };
  for (const object of furniture) {
    const kind = kinds.byKind(object.apiVersion, object.kind);
    if (!kind) throw new Error(`expected ${object.kind} of ${object.apiVersion} to be served, found no such kind`);
    const made = object.kind === 'ConfigMap' ? { ...object, data: { ...soundPolicy, ...policy } } : object;
    await createObject(state, kind, object.metadata.namespace, made, write);
  }
  return state;
}

type Furniture = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string> };
};
const namespace = (name: string): Furniture => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
const furniture: readonly (Furniture & Record<string, unknown>)[] = [
  ...['default', operatorNamespace, imageNamespace, machineNamespace].map(namespace),
  { apiVersion: StorageClass.apiVersion, kind: StorageClass.kind, ...storageClass },
  { apiVersion: VolumeSnapshotClass.apiVersion, kind: VolumeSnapshotClass.kind, ...snapshotClass },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: policyName, namespace: operatorNamespace } },
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 's3-reader', namespace: imageNamespace },
    data: { accessKeyId: 'a2V5', secretKey: 'c2VjcmV0' },
  },
  {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { ...leaseRef, annotations: { [slotsAnnotation]: '[]' } },
    // Acquired long ago: no grace period.
    spec: { holderIdentity: 'start-sync', acquireTime: '2025-01-01T00:00:00.000000Z' },
  },
];

/** All objects in the store, as clients see them. */
export const everythingIn = ({ store }: ClusterState, ...storeKeys: readonly string[]) =>
  storeKeys.flatMap((storeKey) => store.list(storeKey)) as unknown as KubernetesObject[];
