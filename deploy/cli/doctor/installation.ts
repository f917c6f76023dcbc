import { leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import type { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { functionOf } from '../../../shared/kinds/eventing/trigger.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, ObjectReference } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import { generatedFolders, manifestKey, openStackFolders, readManifests } from '../../manifests.ts';
import { check } from '../install/check.ts';
import type { Cluster } from '../install/cluster.ts';
import {
  type AnyObject,
  Broker,
  Deployment,
  InMemoryChannel,
  KnativeService,
  Namespace,
  resourceOf,
  StorageClass,
  StorageProfile,
  Subscription,
  Trigger,
  VolumeSnapshotClass,
} from '../install/kinds.ts';
import { type Requirement, servedAt } from '../install/requirement.ts';
import { runnable } from '../install/skipped.ts';
import { getOf, listOf } from '../install/wait.ts';
import { credentialsIn, type ExistingSecrets, hasPublicationKey, hasSiteKey, secretOf, secretsAt } from '../secrets.ts';
import { listEverywhere, listIfAny, type OnOpenStack, onOpenStackKinds } from '../target.ts';

/** Everything that the doctor reads. */
export interface Installation {
  nowMs: number;
  requirements: readonly Requirement[];
  /** The manifests of this release that can run here, and the objects that exist of them, by key. */
  shipped: readonly AnyObject[];
  there: ReadonlyMap<string, AnyObject>;
  subscriptions: readonly AnyObject[];
  /** The channels of the Brokers, but for those with another kind of channel. */
  channels: readonly AnyObject[];
  /** Functions as Deployments or Services; empty if they run in the process of a local cluster. */
  workloads: readonly AnyObject[];
  storageClasses: readonly AnyObject[];
  snapshotClasses: readonly AnyObject[];
  /** Undefined if CDI does not serve the kind. */
  storageProfiles: readonly AnyObject[] | undefined;
  policy: ConfigMap | undefined;
  lease: Lease | undefined;
  images: readonly VMDiskImage[];
  machines: readonly VirtualMachine[];
  namespaces: ReadonlySet<string>;
  /** Whether the OpenStack functions are installed, and the objects that they reconcile. */
  hasOpenStack: boolean;
  onOpenStack: readonly OnOpenStack[];
  /** The OpenStack credentials of those namespaces and of the operator's namespace, as the Secrets below. */
  accountSecrets: ExistingSecrets;
  /** The Secrets that images and policy name. */
  secrets: ExistingSecrets;
  /** Whether there is a key to verify publications with; undefined if the user may not read it. */
  hasPublicationKey: boolean | undefined;
  /** Whether there is one to derive the keys of workspaces from. */
  hasSiteKey: boolean | undefined;
}

/** Reads the cluster, each object once. Of a Secret it keeps only whether it exists, or has what it must. */
export async function readInstallation(cluster: Cluster, nowMs: number): Promise<Installation> {
  const { kube } = cluster;
  const operator = { namespace: operatorNamespace };
  const [manifests, forOpenStack, deployments, services, triggers, onOpenStack] = await Promise.all([
    readManifests('crds', ...generatedFolders),
    readManifests(...openStackFolders),
    listOf(kube, Deployment, operator),
    listOf(kube, KnativeService, operator),
    listOf(kube, Trigger, operator),
    everythingOnOpenStack(kube),
  ]);
  const workloads = [...deployments, ...services];
  const hasOpenStack = isAny(forOpenStack, [
    ...workloads.map(({ metadata }) => metadata.name),
    ...triggers.map(functionOf),
  ]);
  const shipped = await runnable(cluster, [...manifests, ...(hasOpenStack ? forOpenStack : [])]);
  const [requirements, found, subscriptions, channels, storageClasses, snapshotClasses] = await Promise.all([
    listOf(kube, Broker, operator).then((brokers) =>
      check(cluster, [...shipped.filter(({ kind }) => kind === 'CustomResourceDefinition'), ...brokers]),
    ),
    Promise.all(shipped.map((object) => there(cluster, object))),
    listOf(kube, Subscription, operator),
    Promise.all(shipped.filter(({ kind }) => kind === Broker.kind).map((broker) => there(cluster, channelOf(broker)))),
    listOf(kube, StorageClass),
    listOf(kube, VolumeSnapshotClass),
  ]);
  const isProfiled = await servedAt(cluster, 'storageprofiles.cdi.kubevirt.io', 'v1beta1');
  const [storageProfiles, policy, lease, images, machines, namespaces] = await Promise.all([
    isProfiled ? listOf(kube, StorageProfile) : undefined,
    readPolicyMap(kube),
    kube.get(Lease, leaseRef),
    listEverywhere<VMDiskImage>(kube, 'image'),
    listEverywhere<VirtualMachine>(kube, 'machine'),
    listOf(kube, Namespace),
  ]);
  return {
    nowMs,
    requirements,
    shipped,
    there: new Map(found.filter((object) => object !== undefined).map((object) => [manifestKey(object), object])),
    subscriptions,
    channels: channels.filter((channel) => channel !== undefined),
    workloads,
    storageClasses,
    snapshotClasses,
    storageProfiles,
    policy,
    lease,
    images,
    machines,
    namespaces: new Set(namespaces.map(({ metadata }) => metadata.name)),
    hasOpenStack,
    onOpenStack,
    accountSecrets: await secretsAt(kube, wantedAccounts(onOpenStack)),
    secrets: await secretsAt(kube, wantedSecrets(images, policy)),
    hasPublicationKey: await hasPublicationKey(kube),
    hasSiteKey: await hasSiteKey(kube),
  };
}

const channelOf = ({ metadata }: AnyObject): KubernetesObject => ({
  apiVersion: InMemoryChannel.apiVersion,
  kind: InMemoryChannel.kind,
  metadata: { ...metadata, name: `${metadata.name}-kne-trigger` },
});

/** The existing object of a manifest; a kind that is not served has no objects. */
export async function there({ kube }: Cluster, object: KubernetesObject): Promise<AnyObject | undefined> {
  const resource = resourceOf(object);
  const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : resource.plural;
  return getOf(kube, { ...resource, plural }, object.metadata);
}

/** True if one of these functions, or a Trigger that leads to it, exists. */
function isAny(manifests: readonly AnyObject[], functions: readonly string[]): boolean {
  const ours = new Set(manifests.filter(({ kind }) => kind === Trigger.kind).map(functionOf));
  return functions.some((name) => ours.has(name));
}

const everythingOnOpenStack = async (kube: Cluster['kube']) =>
  (await Promise.all(onOpenStackKinds.map((kind) => listIfAny<OnOpenStack>(kube, kind)))).flat();

const wantedAccounts = (onOpenStack: readonly OnOpenStack[]): ObjectReference[] => {
  const namespaces = new Set(onOpenStack.map(({ metadata }) => metadata.namespace ?? ''));
  return namespaces.size === 0 ? [] : [...namespaces, operatorNamespace].map(credentialsIn);
};

function wantedSecrets(images: readonly VMDiskImage[], policy: ConfigMap | undefined): ObjectReference[] {
  const { imageSecretRef, imageNamespaces } = parsePolicy(policy).values;
  return [
    ...images.flatMap(secretOf),
    ...(imageSecretRef ? imageNamespaces.map((namespace) => ({ namespace, name: imageSecretRef })) : []),
  ];
}
