import { publicationKeysRef } from '../../../shared/images/signature.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { operatorNamespace, publicBroker } from '../../../shared/operator.ts';
import { policyRef } from '../../../shared/policy.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import { siteKeyRef } from '../../../shared/workspaces/site-key.ts';
import { createPublicationKey, createSiteKey } from '../../keys.ts';
import { applyManifests } from '../../manifests.ts';
import {
  type AnyObject,
  ApiServerSource,
  anyOf,
  Broker,
  Definition,
  Deployment,
  InMemoryChannel,
  KnativeService,
  PingSource,
  StorageClass,
  StorageProfile,
  Trigger,
  VolumeSnapshotClass,
} from '../install/kinds.ts';

/** Where a test breaks an installation: on the local cluster of this process, or on a real Kubernetes with Knative. */
export type Place = 'local' | 'real';

/** One way to break an installation, the finding that the doctor must report, and how to undo it. */
export interface Misconfiguration {
  name: string;
  /** `kube` has admin rights; `knative` those of Knative's own controller, because Knative's webhooks deny others access to some objects. */
  break(kube: Kube, knative: Kube): Promise<unknown>;
  /** The name of the finding, and the command that its remedy contains. */
  finding: RegExp;
  remedy: RegExp;
  /** Deletes what `break` created. The caller applies again what `break` deleted or changed. */
  mend?(kube: Kube, knative: Kube): Promise<unknown>;
  /** The places where this case is skipped, and why. */
  not?: Readonly<Partial<Record<Place, string>>>;
}

type Row = Omit<Misconfiguration, 'name' | 'remedy'> & { remedy?: RegExp };

const rbac = 'rbac.authorization.k8s.io/v1';
const ClusterRole = anyOf(rbac, 'ClusterRole', { namespaced: false });
const RoleBinding = anyOf(rbac, 'RoleBinding');
const ServiceAccount = anyOf('v1', 'ServiceAccount');
const AdmissionPolicyBinding = anyOf('admissionregistration.k8s.io/v1', 'ValidatingAdmissionPolicyBinding', {
  namespaced: false,
});
const ours = (name: string) => ({ namespace: operatorNamespace, name });
const set = (data: Record<string, string | null>) => (kube: Kube) => kube.patch(ConfigMap, policyRef, { data });

const images = { name: 'vmdiskimages.pelotech.ot' };

async function removePrinterColumns(kube: Kube) {
  const found = (await kube.get(Definition, images)) as AnyObject;
  const { versions } = found.spec as { versions: { additionalPrinterColumns?: unknown[] }[] };
  const older = versions.map((version) => ({ ...version, additionalPrinterColumns: [] }));
  await kube.patch(Definition, images, { spec: { versions: older } });
}

const gp3 = { name: 'gp3' };
/** The status that CDI writes for the class that the policy names. */
export const profiled = {
  claimPropertySets: [{ accessModes: ['ReadWriteOnce'], volumeMode: 'Block' }],
  cloneStrategy: 'snapshot',
};

const channel = ours('default-kne-trigger');
const subscribersOf = async (kube: Kube) => {
  const { subscribers = [] } = ((await kube.get(InMemoryChannel, channel))?.spec ?? {}) as {
    subscribers?: { uid: string }[];
  };
  return subscribers;
};
const setSubscribers = (kube: Kube, subscribers: readonly object[]) =>
  kube.patch(InMemoryChannel, channel, { spec: { subscribers } });
const dead = {
  uid: 'of-no-trigger',
  generation: 1,
  subscriberUri: 'http://no-trigger.sync-operator.svc.cluster.local/',
};

/** Cases that need a cluster where functions are objects. */
const noFunctions = { local: 'the local cluster has no objects for functions' };

/** By name; what says no remedy is repaired by an upgrade. */
const rows: Readonly<Record<string, Row>> = {
  'an outdated CRD': { break: removePrinterColumns, finding: /^CRD vmdiskimages/, remedy: /ot-functions upgrade/ },
  'a role without its rules': {
    break: (kube) => kube.patch(ClusterRole, { name: 'sync-operator-preload' }, { rules: [] }),
    finding: /^ClusterRole sync-operator-preload/,
  },
  'a deleted account': {
    break: (kube) => kube.delete(ServiceAccount, ours('prune')),
    finding: /^ServiceAccount prune/,
  },
  'a binding without subjects': {
    break: (kube) => kube.patch(RoleBinding, ours('count-refs'), { subjects: [] }),
    finding: /^RoleBinding count-refs/,
  },
  'a deleted Trigger': { break: (kube) => kube.delete(Trigger, ours('preload')), finding: /^Trigger preload/ },
  'a deleted admission policy binding': {
    break: (kube) => kube.delete(AdmissionPolicyBinding, { name: 'sync-operator-compose-workspace' }),
    finding: /^ValidatingAdmissionPolicyBinding sync-operator-compose-workspace/,
  },
  'a Trigger with other filters': {
    break: (kube) => kube.patch(Trigger, ours('prune-pruning'), { spec: { filters: [{ exact: { type: 'none' } }] } }),
    finding: /^Trigger prune-pruning/,
  },
  'a deleted source': {
    break: (kube) => kube.delete(ApiServerSource, ours('images-pelotech')),
    finding: /^ApiServerSource images-pelotech/,
  },
  'a deleted timer': {
    break: (kube) => kube.delete(PingSource, ours('images-sweep')),
    finding: /^PingSource images-sweep/,
  },
  'a source with another account': {
    break: (kube) => kube.patch(ApiServerSource, ours('images-own'), { spec: { serviceAccountName: 'default' } }),
    finding: /^ApiServerSource images-own/,
  },
  'a source that may not list': {
    break: async (kube) => {
      await kube.delete(RoleBinding, ours('source-own'));
      // Knative checks the permissions of a source only when it reconciles the source.
      await kube.patch(ApiServerSource, ours('images-own'), {
        metadata: { annotations: { 'pelotech.ot/looked-at': 'broken' } },
      });
    },
    finding: /^ApiServerSource images-own/,
    remedy: /^kubectl describe ApiServerSource images-own -n /,
    not: { local: 'the local sources report no condition about their permissions' },
  },
  'a deleted function': {
    break: (kube) => kube.delete(KnativeService, ours('preload')),
    finding: /^Function preload/,
    not: noFunctions,
  },
  'a function whose image cannot be pulled': {
    break: async (kube) => {
      const { spec } = (await kube.get(KnativeService, ours('preload'))) as unknown as Workload;
      const containers = spec.template.spec.containers.map((one) => ({ ...one, image: 'localhost/nowhere:gone' }));
      await kube.patch(KnativeService, ours('preload'), { spec: { template: { spec: { containers } } } });
    },
    finding: /^Function preload/,
    remedy: /^kubectl describe revisions.serving.knative.dev,pods -n .* -l app.kubernetes.io\/name=preload$/,
    not: noFunctions,
  },
  'a subscriber without a Subscription': {
    break: async (_, knative) => setSubscribers(knative, [...(await subscribersOf(knative)), dead]),
    finding: /^Channel default-kne-trigger/,
    remedy: /^kubectl delete inmemorychannel default-kne-trigger -n /,
    mend: async (_, knative) =>
      setSubscribers(
        knative,
        (await subscribersOf(knative)).filter(({ uid }) => uid !== dead.uid),
      ),
    not: { local: 'the local Broker has no channel' },
  },
  'functions of which most are deleted': {
    break: (kube) =>
      applyManifests(kube, [
        {
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          metadata: { ...ours('start-sync') },
          spec: {
            replicas: 0,
            selector: { matchLabels: { app: 'x' } },
            template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'x', image: 'x' }] } },
          },
        } as unknown as AnyObject,
      ]),
    finding: /^Function dead-letters/,
    mend: (kube) => kube.delete(Deployment, ours('start-sync')),
    not: { real: 'all functions exist, and another case deletes one of them' },
  },
  'a StorageClass that does not exist': {
    break: set({ imageStorageClass: 'gone' }),
    finding: /^Classes of the policy/,
    remedy: /policy set imageStorageClass/,
  },
  'classes of two drivers': {
    break: async (kube) => {
      await kube.create(StorageClass, { metadata: { name: 'doctors' }, provisioner: 'one.example' });
      await kube.create(VolumeSnapshotClass, {
        metadata: { name: 'doctors' },
        driver: 'other.example',
        deletionPolicy: 'Delete',
      });
      await set({ imageStorageClass: 'doctors', imageSnapshotClass: 'doctors' })(kube);
    },
    finding: /^Classes of the policy/,
    remedy: /^name one with that driver: ot-functions policy set/,
    mend: async (kube) => {
      await kube.delete(StorageClass, { name: 'doctors' });
      await kube.delete(VolumeSnapshotClass, { name: 'doctors' });
    },
  },
  'a policy that does not parse': {
    break: set({ concurrency: 'many' }),
    finding: /^Policy concurrency/,
    remedy: /^ot-functions policy set concurrency VALUE$/,
  },
  'a key that is misspelt': {
    break: set({ concurency: '8' }),
    finding: /^Policy concurency/,
    remedy: /^ot-functions policy unset concurency$/,
    mend: set({ concurency: null }),
  },
  'a pause': { break: set({ concurrency: '0' }), finding: /^Policy concurrency/, remedy: /^ot-functions resume$/ },
  'a namespace that does not exist': {
    break: set({ imageNamespaces: 'nowhere' }),
    finding: /^Policy imageNamespaces/,
    remedy: /^kubectl create namespace nowhere$/,
  },
  'a Secret that does not exist': {
    break: set({ imageSecretRef: 'missing' }),
    finding: /^Secret .*\/missing/,
    remedy: /^kubectl create secret generic missing -n /,
  },
  'no key for pipelines to sign with': {
    break: (kube) => kube.delete(Secret, publicationKeysRef),
    finding: /^Secret .*\/publication-keys/,
    remedy: /^kubectl create secret generic publication-keys -n /,
    mend: (kube) => createPublicationKey(kube),
  },
  'no key to derive the keys of workspaces from': {
    break: async (kube) => {
      await set({ ansibleCredentials: 'true' })(kube);
      await kube.delete(Secret, siteKeyRef);
    },
    finding: /^Secret .*\/workspace-key/,
    remedy: /^kubectl create secret generic workspace-key -n /,
    mend: async (kube) => {
      await createSiteKey(kube);
      await set({ ansibleCredentials: null })(kube);
    },
  },
  'a StorageProfile without claimPropertySets': {
    break: (kube) =>
      kube.patch(StorageProfile, gp3, { status: { claimPropertySets: null } }, { subresource: 'status' }),
    finding: /^StorageProfile gp3/,
    remedy: /^kubectl patch storageprofile gp3 .*claimPropertySets/,
    mend: (kube) => kube.patch(StorageProfile, gp3, { status: profiled }, { subresource: 'status' }),
    not: { local: 'CDI is simulated there, without this kind' },
  },
  // The last one, because deleting the Broker also deletes its channel and every Subscription.
  'a deleted Broker': { break: (kube) => kube.delete(Broker, ours(publicBroker)), finding: /^Broker default/ },
};

/** Installations with one fault each; for any cluster with a complete installation of ot-functions. */
export const misconfigurations: readonly Misconfiguration[] = Object.entries(rows).map(([name, row]) => ({
  name,
  remedy: /upgrade/,
  ...row,
}));

interface Workload {
  spec: { template: { spec: { containers: object[] } } };
}

/** The policy, which the caller restores: no manifest contains it. */
export const keptPolicy = async (kube: Kube) => (await readPolicyMap(kube))?.data ?? {};
export const restorePolicy = (kube: Kube, data: Readonly<Record<string, string>>) =>
  kube.patch(ConfigMap, policyRef, { data });
