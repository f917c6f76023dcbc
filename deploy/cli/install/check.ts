import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { operatorNamespace } from '../../../shared/operator.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import { classOf, isBroker } from './broker-class.ts';
import type { Cluster } from './cluster.ts';
import { assertStoredVersionsStay } from './install.ts';
import {
  type AnyObject,
  anyOf,
  ConfigMap,
  Definition,
  Deployment,
  KnativeService,
  Service,
  StorageClass,
  StorageProfile,
  VolumeSnapshotClass,
} from './kinds.ts';
import { judged, missing, ok, optional, type Requirement, servedAt, unknownVersion, warning } from './requirement.ts';
import { isOf, isServed, kubeOvn, kubeVirt } from './skipped.ts';
import { listOf } from './wait.ts';

/**
 * What the cluster must have before `wanted` is installed. The minimum versions and their reasons:
 * Kubernetes 1.31: selectableFields of CRDs are on by default (beta; stable from 1.32). Knative Eventing 1.13: filters of
 * Triggers are on by default (1.12), and a PingSource accepts seconds (1.13). CDI 1.57: importers fill a claim that is bound
 * after the import (populators). KubeVirt 1.2: a machine that needs a restart reports it (condition RestartRequired).
 */
export async function check(cluster: Cluster, wanted: readonly KubernetesObject[]): Promise<Requirement[]> {
  const served = ((await cluster.read('/version')) ?? {}) as Served;
  const needsServing = wanted.some(({ apiVersion }) => apiVersion === KnativeService.apiVersion);
  const found = await Promise.all([
    kubernetes(served),
    eventing(cluster),
    triggerFilters(cluster),
    wanted.some((object) => isBroker(object) && classOf(object) === 'Kafka') ? kafka(cluster, wanted) : undefined,
    needsServing ? serving(cluster) : undefined,
    cdi(cluster),
    wanted.some(isOf(kubeVirt)) ? machines(cluster) : undefined,
    wanted.some(isOf(kubeOvn)) ? networks(cluster) : undefined,
    snapshotter(cluster),
    classes(cluster),
    profiles(cluster),
    ...wanted.filter(({ kind }) => kind === Definition.kind).map((definition) => storedVersions(cluster, definition)),
  ]);
  const isSimulated = (one: Requirement) => served.platform === 'local' && one.found === unknownVersion;
  return found
    .filter((requirement) => requirement !== undefined)
    .map((one) => (isSimulated(one) ? { ...one, result: 'ok', found: 'simulated by npm start' } : one));
}

/** True if nothing is missing. */
export const isMet = (requirements: readonly Requirement[]) => requirements.every(({ result }) => result !== 'missing');

/** What the API server answers to `/version`. */
interface Served {
  gitVersion?: string;
  platform?: string;
}

function kubernetes({ gitVersion }: Served): Requirement {
  const of = {
    name: 'Kubernetes',
    expected: '1.31 or later',
    remedy:
      'upgrade the cluster: the functions list images by status.phase (selectableFields: on from 1.31, stable in 1.32)',
  };
  return judged(of, [1, 31], gitVersion);
}

/** Knative labels its CRDs with its release. */
const releaseOf = ({ metadata }: AnyObject) => metadata.labels?.['app.kubernetes.io/version'];

async function eventing(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'Knative Eventing',
    expected: '1.13 or later, with its Broker and sources',
    remedy: 'install it: https://knative.dev/docs/install (eventing-core, in-memory-channel, mt-channel-broker)',
  };
  const names = ['brokers.eventing', 'triggers.eventing', 'apiserversources.sources', 'pingsources.sources'];
  const served = await Promise.all(names.map((name) => servedAt(cluster, `${name}.knative.dev`, 'v1')));
  const lacks = names.filter((_, index) => !served[index]).map((name) => `${name}.knative.dev`);
  if (lacks.length > 0) return missing(of, `no ${lacks.join(', ')} at v1`);
  return judged(of, [1, 13], served[1] && releaseOf(served[1]));
}

async function triggerFilters({ kube }: Cluster): Promise<Requirement | undefined> {
  const flags = await kube.get(ConfigMap, { namespace: 'knative-eventing', name: 'config-features' });
  const flag = (flags?.data as Record<string, string> | undefined)?.['new-trigger-filters'];
  if (flag === undefined) return undefined;
  const of = {
    name: 'Trigger filters',
    expected: 'new-trigger-filters: enabled',
    remedy: 'set it in ConfigMap config-features of knative-eventing, or every function is sent every event',
  };
  return (flag === 'enabled' ? ok : missing)(of, `new-trigger-filters: ${flag}`);
}

/** What Kafka's Broker runs with, and whether the address of Kafka is still the one that the component kafka/ was shipped with. */
async function kafka({ kube }: Cluster, wanted: readonly AnyObject[]): Promise<Requirement> {
  const of = {
    name: "Kafka's Broker",
    expected: 'kafka-controller and kafka-broker-ingress in knative-eventing, and the address of your Kafka',
    remedy:
      'install it: https://knative.dev/docs/eventing/brokers/broker-types/kafka-broker; name your Kafka in bootstrap.servers of ConfigMap sync-operator-kafka',
  };
  const service = (namespace: string, name: string) => kube.get(Service, { namespace, name });
  const config = { namespace: operatorNamespace, name: 'sync-operator-kafka' };
  const isConfig = ({ kind, metadata }: AnyObject) => kind === ConfigMap.kind && metadata.name === config.name;
  const [controller, ingress, address, settings] = await Promise.all([
    kube.get(Deployment, { namespace: 'knative-eventing', name: 'kafka-controller' }),
    service('knative-eventing', 'kafka-broker-ingress'),
    service('kafka', 'my-cluster-kafka-bootstrap'),
    wanted.find(isConfig) ?? kube.get(ConfigMap, config),
  ]);
  const lacks = [
    ...(controller ? [] : ['Deployment kafka-controller']),
    ...(ingress ? [] : ['Service kafka-broker-ingress']),
  ];
  if (lacks.length > 0) return missing(of, `no ${lacks.join(', no ')}`);
  const servers = (settings?.data as Record<string, string> | undefined)?.['bootstrap.servers'] ?? '';
  if (servers === '') return missing(of, 'no bootstrap.servers');
  const isExample = servers === 'my-cluster-kafka-bootstrap.kafka:9092';
  return isExample && !address ? missing(of, `the example ${servers}, which does not exist`) : ok(of, servers);
}

async function serving(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'Knative Serving',
    expected: '1.13 or later',
    remedy: 'install it: https://knative.dev/docs/install; or use the overlay without it: --overlay deployments',
  };
  const definition = await servedAt(cluster, 'services.serving.knative.dev', 'v1');
  return definition ? judged(of, [1, 13], releaseOf(definition)) : missing(of, 'no services.serving.knative.dev at v1');
}

async function cdi(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'CDI',
    expected: '1.57 or later (1.65 for checksum)',
    remedy: 'install the Containerized Data Importer: https://github.com/kubevirt/containerized-data-importer',
  };
  if (!(await servedAt(cluster, 'datavolumes.cdi.kubevirt.io', 'v1beta1')))
    return missing(of, 'no datavolumes.cdi.kubevirt.io at v1beta1');
  const [found] = await listOf(cluster.kube, anyOf('cdi.kubevirt.io/v1beta1', 'CDI', { namespaced: false }));
  return judged(of, [1, 57], (found?.status as { observedVersion?: string } | undefined)?.observedVersion);
}

async function machines(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'KubeVirt',
    expected: '1.2 or later, to run machines',
    remedy:
      'images do not need it; for machines install it (https://kubevirt.io/user-guide/cluster_admin/installation), then ot-functions upgrade',
  };
  if (!(await isServed(cluster, kubeVirt))) return optional(of, describeNone(kubeVirt));
  const [found] = await listOf(cluster.kube, anyOf('kubevirt.io/v1', 'KubeVirt'));
  const { observedKubeVirtVersion } = (found?.status ?? {}) as { observedKubeVirtVersion?: string };
  return judged({ ...of, remedy: 'upgrade KubeVirt' }, [1, 2], observedKubeVirtVersion);
}

/**
 * No object of kube-ovn has its release. Before 1.16 the policy that isolates a workspace would also separate its own machines:
 * kubeovn/kube-ovn#6223 added policies for one network of several.
 */
async function networks(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'kube-ovn',
    expected:
      '1.16 or later (network policies for one network only), for networks of workspaces with addresses of their own',
    remedy:
      "without it workspaces use bridges (the policy's networkProvider); or install it (https://kubeovn.github.io/docs/stable/en), then ot-functions upgrade",
  };
  return (await isServed(cluster, kubeOvn))
    ? ok(of, 'Vpc and Subnet at v1, of an unknown release')
    : optional(of, describeNone(kubeOvn));
}

const describeNone = ({ kinds, group, version }: typeof kubeVirt) => `no ${kinds.join(', ')} of ${group} at ${version}`;

async function snapshotter(cluster: Cluster): Promise<Requirement> {
  const of = {
    name: 'Volume snapshots',
    expected: 'CRDs of the external-snapshotter at v1',
    remedy: 'install its CRDs and the snapshot-controller: https://github.com/kubernetes-csi/external-snapshotter',
  };
  const names = ['volumesnapshots', 'volumesnapshotcontents', 'volumesnapshotclasses'];
  const served = await Promise.all(names.map((name) => servedAt(cluster, `${name}.snapshot.storage.k8s.io`, 'v1')));
  const lacks = names.filter((_, index) => !served[index]);
  return lacks.length > 0 ? missing(of, `no ${lacks.join(', ')} at v1`) : ok(of, 'all three at v1');
}

/** A driver can only snapshot its own volumes: some pair of classes must name the same driver. */
async function classes({ kube }: Cluster): Promise<Requirement> {
  const of = {
    name: 'Storage classes',
    expected: 'a StorageClass and a VolumeSnapshotClass of one driver, and those that the policy names',
    remedy: 'create them, or name existing ones in the policy (imageStorageClass, imageSnapshotClass) or in each image',
  };
  const [{ storage, snapshot, pairs }, policy] = await Promise.all([readClasses(kube), readPolicyMap(kube)]);
  const named = policy?.data ?? {};
  const isThere = (name: string | undefined, among: readonly AnyObject[]) =>
    name === undefined || among.some(({ metadata }) => metadata.name === name);
  const found = `${namesOf(storage)}; ${namesOf(snapshot)}`;
  const isFit = isThere(named.imageStorageClass, storage) && isThere(named.imageSnapshotClass, snapshot);
  return (pairs.length > 0 && isFit ? ok : warning)(of, found);
}

/** The classes, and those StorageClasses of whose driver there is a VolumeSnapshotClass. */
async function readClasses(kube: Cluster['kube']) {
  const [storage, snapshot] = await Promise.all([listOf(kube, StorageClass), listOf(kube, VolumeSnapshotClass)]);
  const drivers = new Set(snapshot.map((object) => (object as { driver?: string }).driver));
  const pairs = storage.filter((object) => drivers.has((object as { provisioner?: string }).provisioner));
  return { storage, snapshot, pairs };
}

const namesOf = (objects: readonly AnyObject[]) => objects.map(({ metadata }) => metadata.name).join(', ') || 'none';

/** A line only if something is missing: CDI creates no claim in a class whose profile has no access mode, so its images wait. */
async function profiles(cluster: Cluster): Promise<Requirement | undefined> {
  if (!(await servedAt(cluster, 'storageprofiles.cdi.kubevirt.io', 'v1beta1'))) return undefined;
  const [found, { pairs }] = await Promise.all([listOf(cluster.kube, StorageProfile), readClasses(cluster.kube)]);
  const isFit = ({ metadata: { name } }: AnyObject) => pairs.some(({ metadata }) => metadata.name === name);
  const hasNone = ({ status }: AnyObject) =>
    !(status as { claimPropertySets?: unknown[] } | undefined)?.claimPropertySets?.length;
  const [first, ...more] = found.filter((profile) => isFit(profile) && hasNone(profile));
  if (!first) return undefined;
  const set = '{"accessModes":["ReadWriteOnce"],"volumeMode":"Block"}';
  return warning(
    {
      name: 'StorageProfiles',
      expected: 'claimPropertySets, which CDI needs for a claim',
      remedy: `set it for each: kubectl patch storageprofile ${first.metadata.name} --type merge -p '{"spec":{"claimPropertySets":[${set}]}}'`,
    },
    `none in ${namesOf([first, ...more])}`,
  );
}

/** A line only if a stored version would be dropped, which is rare. */
async function storedVersions({ kube }: Cluster, definition: KubernetesObject): Promise<Requirement | undefined> {
  const before = await kube.get(Definition, { name: definition.metadata.name });
  try {
    assertStoredVersionsStay(before, definition);
    return undefined;
  } catch (error) {
    const of = {
      name: definition.metadata.name,
      expected: 'every version that objects are stored in',
      remedy: 'see there',
    };
    return missing(of, error instanceof Error ? error.message : String(error));
  }
}
