/** A third-party release, whose manifests `kubectl apply --server-side -f` applies unchanged. */
export interface Release {
  name: string;
  version: string;
  /** In the order they are applied. */
  urls: readonly string[];
  /** Namespaces whose Deployments must be Available before the next release is applied. */
  namespaces: readonly string[];
  /** The SHA-256 of each URL's content; URLs without one are not verified. */
  sha256?: Readonly<Record<string, string>>;
}

/** kind itself: an older one may not know the node's image. */
export const leastKind = [0, 30, 0] as const;

/** Kubernetes of the node, with the digest that kind 0.30.0 was released with. */
export const nodeImage = 'kindest/node:v1.34.0@sha256:7416a61b42b1662ca6ca89f02028ac133a309a2a30ba309614e8ec94d976dc5a';

const knative = 'knative-v1.20.0';
const ofKnative = (repository: string, ...files: string[]) =>
  files.map((file) => `https://github.com/${repository}/releases/download/${knative}/${file}`);

const snapshotter = 'v8.6.0';
const ofSnapshotter = (...files: string[]) =>
  files.map((file) => `https://raw.githubusercontent.com/kubernetes-csi/external-snapshotter/${snapshotter}/${file}`);

const ofKubeVirt = (repository: string, version: string, ...files: string[]) =>
  files.map((file) => `https://github.com/kubevirt/${repository}/releases/download/${version}/${file}`);

/** The releases that the functions need, in the order of installation. */
export const releases: readonly Release[] = [
  {
    name: 'Knative Serving',
    version: knative,
    urls: [
      ...ofKnative('knative/serving', 'serving-crds.yaml', 'serving-core.yaml'),
      ...ofKnative('knative-extensions/net-kourier', 'kourier.yaml'),
    ],
    namespaces: ['knative-serving', 'kourier-system'],
  },
  {
    name: 'Knative Eventing',
    version: knative,
    urls: ofKnative(
      'knative/eventing',
      'eventing-crds.yaml',
      'eventing-core.yaml',
      'in-memory-channel.yaml',
      'mt-channel-broker.yaml',
    ),
    namespaces: ['knative-eventing'],
  },
  {
    name: 'external-snapshotter',
    version: snapshotter,
    urls: ofSnapshotter(
      'client/config/crd/snapshot.storage.k8s.io_volumesnapshotclasses.yaml',
      'client/config/crd/snapshot.storage.k8s.io_volumesnapshotcontents.yaml',
      'client/config/crd/snapshot.storage.k8s.io_volumesnapshots.yaml',
      'deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml',
      'deploy/kubernetes/snapshot-controller/setup-snapshot-controller.yaml',
    ),
    namespaces: [],
  },
  {
    name: 'CDI',
    version: 'v1.66.0',
    urls: ofKubeVirt('containerized-data-importer', 'v1.66.0', 'cdi-operator.yaml', 'cdi-cr.yaml'),
    namespaces: ['cdi'],
  },
  {
    name: 'KubeVirt',
    version: 'v1.9.0',
    urls: ofKubeVirt('kubevirt', 'v1.9.0', 'kubevirt-operator.yaml', 'kubevirt-cr.yaml'),
    namespaces: ['kubevirt'],
  },
];

/** The driver that keeps volumes and snapshots in folders of the node; its own script installs it from a checkout. */
export const hostpathDriver = {
  name: 'csi-driver-host-path',
  version: 'v1.18.0',
  repository: 'https://github.com/kubernetes-csi/csi-driver-host-path',
  script: 'deploy/kubernetes-1.34/deploy.sh',
} as const;
