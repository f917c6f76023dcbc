import * as z from 'zod';
import type { CdiContext } from '../../../deploy/local/cdi/context.ts';
import type { FaultRule } from '../../../deploy/local/cdi/faults.ts';
import { startCdi } from '../../../deploy/local/cdi/start-cdi.ts';
import type { StorageProfiles } from '../../../deploy/local/cdi/storage-profile.ts';
import { testCluster } from '../../../deploy/local/cdi/test-cluster.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { bytesOf } from '../../../deploy/local/controller/quantity.ts';
import { importImage } from '../../../deploy/local/importer/import-image.ts';
import type { Fault } from '../../../deploy/local/object-store/faults.ts';
import { type ObjectStore, startObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import type { SnapshotFaultRule } from '../../../deploy/local/snapshots/faults.ts';
import { finalizer } from '../../../deploy/local/snapshots/kinds.ts';
import { startSnapshotter } from '../../../deploy/local/snapshots/start-snapshotter.ts';
import { defineResource, type Resource, referenceOf } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshotClass } from '../../../shared/kinds/snapshot/volume-snapshot-class.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Change, Recorded } from '../replay/scenarios.ts';
import { type Story, storiesOf } from './canonical.ts';
import { withoutChance } from './chance.ts';
import { keyPair, objects, secrets } from './store.ts';

/** The settings with which a scenario happens in the local cluster. */
export interface Settings {
  /** The faults of imports and clones. */
  faults?: FaultRule[];
  snapshotFaults?: SnapshotFaultRule[];
  /** The faults of downloads. */
  storeFaults?: Fault[];
  importImage?: CdiContext['importImage'];
  /** The time that an importer takes to start, if it has to be deleted before. */
  containerMs?: number;
  storageProfiles?: StorageProfiles;
  /** What the objects show before the DataVolume is deleted, by their names, if the story of the DataVolume does not show it. */
  before?: Record<string, RegExp>;
  /** A user's action once a DataVolume shows this. */
  meanwhile?: { at: RegExp; act: (local: Local, dataVolume: Recorded) => Promise<unknown> };
}

/** What such an action can use. */
interface Local {
  kube: Kube;
  profiles: StorageProfiles;
}

const anything = { spec: z.looseObject({}).optional(), status: z.looseObject({}).optional() };
const kind = (apiVersion: string, name: string, namespaced = true) =>
  defineResource(
    { apiVersion, kind: name, plural: `${name.toLowerCase()}${name.endsWith('s') ? 'es' : 's'}`, namespaced },
    anything,
  );

const DataVolume = kind('cdi.kubevirt.io/v1beta1', 'DataVolume');
const VolumeSnapshot = kind('snapshot.storage.k8s.io/v1', 'VolumeSnapshot');
const VolumeSnapshotContent = kind('snapshot.storage.k8s.io/v1', 'VolumeSnapshotContent', false);
const StorageClass = kind('storage.k8s.io/v1', 'StorageClass', false);
const Secret = kind('v1', 'Secret');
const Namespace = kind('v1', 'Namespace', false);
const watched: Resource[] = [
  DataVolume,
  kind('cdi.kubevirt.io/v1beta1', 'VolumeImportSource'),
  kind('cdi.kubevirt.io/v1beta1', 'VolumeCloneSource'),
  kind('v1', 'PersistentVolumeClaim'),
  kind('v1', 'Pod'),
  VolumeSnapshot,
  VolumeSnapshotContent,
  kind('v1', 'Event'),
];

/** Short, but long enough for a watching controller to act before the next event. */
const timings = {
  bindMs: 10,
  containerMs: 400,
  podPhaseMs: 200,
  rebindMs: 20,
  podGraceMs: 40,
  conversionMs: 40,
  secretPollMs: 10,
  hostCopyMs: 60,
  restartScale: 0.002,
  progressMs: 10,
};

const profilesOfClasses: StorageProfiles = {
  'ebs.csi.aws.com': { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' },
  'filesystem.csi.test': { accessModes: ['ReadWriteOnce'], volumeMode: 'Filesystem' },
};

const realStore = 'http://minio.store.svc:9000';
/** A port without a listener, in the recording and here. */
const closedPort = ['http://minio.store.svc:9999/', 'http://127.0.0.1:1/'] as const;
const patienceMs = 20_000;

/**
 * Runs a scenario in the local cluster and returns every write. DataVolumes and VolumeSnapshots are created and deleted as they
 * were recorded, each once the previous one shows its recorded end.
 */
export async function runScenario(recorded: readonly Change[], settings: Settings = {}): Promise<Change[]> {
  const cluster = await testCluster(realClock);
  const { kube } = cluster;
  const store = await startObjectStore({
    keys: [keyPair],
    publicBuckets: ['plain'],
    faults: settings.storeFaults ?? [],
  });
  const profiles = { ...profilesOfClasses, ...settings.storageProfiles };
  await prepare(kube, store, recorded);
  const changes: Change[] = [];
  const abort = new AbortController();
  const look = whenever();
  for (const resource of watched)
    await follow(kube, resource, abort.signal, ({ type, object }) => {
      changes.push({ at: '', type, object: locallyNamed(object as Recorded, store.url) });
      look.now();
    });
  const drivers = Object.keys(profiles);
  const running = [
    startCdi({
      kube,
      clock: realClock,
      importImage: settings.importImage ?? importImage,
      timings: { ...timings, containerMs: settings.containerMs ?? timings.containerMs },
      faults: settings.faults ?? [],
      storageProfiles: profiles,
    }),
    startSnapshotter({
      kube,
      clock: realClock,
      cutMs: 5,
      readyMs: 0,
      contentMs: 5,
      faults: settings.snapshotFaults ?? [],
      drivers,
    }),
  ];
  try {
    await perform({ kube, profiles }, store, recorded, changes, settings, look.until);
  } finally {
    for (const one of running) await one.stop();
    abort.abort();
    await cluster.close();
    await store.close();
  }
  return changes;
}

type Until = (isIt: () => boolean) => Promise<void>;

async function perform(
  local: Local,
  store: ObjectStore,
  recorded: readonly Change[],
  changes: Change[],
  { meanwhile, before = {} }: Settings,
  until: Until,
) {
  const { kube } = local;
  const wanted = tidied(recorded);
  const isAsRecorded = (name: string) => {
    const lines = linesOf(wanted, name);
    const found = linesOf(tidied(changes), name);
    return found.length >= lines.length && found.at(-1) === lines.at(-1);
  };
  const isLeft = () => {
    const found = tidied(changes).filter(
      ({ name, lines }) => lines.at(-1) !== gone && wanted.find((one) => one.name === name)?.lines.at(-1) === gone,
    );
    return found.length > 0;
  };
  const made = recorded.filter(({ type, object }) => type === 'ADDED' && object.kind === 'DataVolume');
  for (const [index, { object }] of made.entries()) {
    await kube.create(DataVolume, locally(object, store.url));
    const name = index === 0 ? 'DataVolume' : `DataVolume ${index + 1}`;
    let acted = !meanwhile;
    await until(() => {
      if (!acted && meanwhile && linesOf(storiesOf(changes), name).some((line) => meanwhile.at.test(line))) {
        acted = true;
        void meanwhile.act(local, object);
      }
      return isAsRecorded(name);
    });
    const snapshot = recorded.find(
      (change) =>
        change.type === 'ADDED' && change.object.kind === 'VolumeSnapshot' && isTakenFrom(change.object, object),
    );
    if (snapshot) {
      await kube.create(VolumeSnapshot, locally(snapshot.object, store.url));
      await until(() => isAsRecorded('VolumeSnapshot') && isAsRecorded('VolumeSnapshotContent'));
    }
    if (!isDeleted(recorded, object)) {
      await until(() => !isLeft());
      continue;
    }
    await until(() => {
      const stories = storiesOf(changes);
      return Object.entries(before).every(([one, shows]) => linesOf(stories, one).some((line) => shows.test(line)));
    });
    await kube.delete(DataVolume, referenceOf(object));
    const isLast = index === made.length - 1;
    if (snapshot && isLast && isDeleted(recorded, snapshot.object))
      await kube.delete(VolumeSnapshot, referenceOf(snapshot.object));
    await until(() => !isLeft());
  }
}

const gone = 'is deleted';

const tidied = (changes: readonly Change[]): Story[] => withoutChance(storiesOf(changes));

/** The lines of a story before its deletion. */
const linesOf = (stories: Story[], name: string) =>
  stories.find((story) => story.name === name)?.lines.filter((line) => !/is deleted|being deleted/.test(line)) ?? [];

const isDeleted = (recorded: readonly Change[], { metadata: { uid } }: Recorded) =>
  recorded.some(({ type, object }) => type === 'DELETED' && object.metadata.uid === uid);

const isTakenFrom = (snapshot: Recorded, { metadata }: Recorded) =>
  JSON.stringify(snapshot.spec).includes(`"persistentVolumeClaimName":"${metadata.name}"`);

/** An object as it was created, with the address of the local store. */
function locally({ apiVersion, kind: ofKind, metadata, spec }: Recorded, url: string) {
  const { name, namespace, labels, annotations } = metadata;
  const object = {
    apiVersion,
    kind: ofKind,
    metadata: { name, namespace, ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) },
    spec,
  };
  return JSON.parse(JSON.stringify(object).replaceAll(realStore, url).replaceAll(closedPort[0], closedPort[1]));
}

/** The reverse: an object of the local cluster, with the address of the real store. */
const locallyNamed = (object: Recorded, url: string): Recorded =>
  JSON.parse(JSON.stringify(object).replaceAll(url, realStore).replaceAll(closedPort[1], closedPort[0]));

async function prepare(kube: Kube, store: ObjectStore, recorded: readonly Change[]) {
  for (const [name, allowVolumeExpansion] of [
    ['fs', true],
    ['fsnoexp', false],
  ] as const)
    await kube.create(StorageClass, {
      metadata: { name },
      provisioner: 'filesystem.csi.test',
      volumeBindingMode: 'Immediate',
      allowVolumeExpansion,
    });
  const text = JSON.stringify(recorded);
  const driver = text.includes('"storageClassName":"gp3"') ? 'ebs.csi.aws.com' : 'filesystem.csi.test';
  for (const name of new Set(text.match(/(?<="volumeSnapshotClassName":")[^"]+/g)))
    await kube.create(VolumeSnapshotClass, { metadata: { name }, driver, deletionPolicy: 'Delete' });
  for (const bucket of ['images', 'plain']) await store.put(bucket, 'other', 'nothing');
  for (const [path, content] of Object.entries(objects)) {
    const [bucket = '', key = ''] = path.split('/');
    if (text.includes(`/${path}"`)) await store.put(bucket, key, content());
  }
  const namespaces = new Set(text.match(/(?<="namespace":")[^"]+/g));
  for (const name of namespaces) if (name !== 'default') await kube.create(Namespace, { metadata: { name } });
  for (const [name, data] of Object.entries(secrets))
    for (const namespace of namespaces)
      if (text.includes(`"${name}"`)) await kube.create(Secret, { metadata: { name, namespace }, data });
  for (const { type, object } of recorded)
    if (type === 'ADDED' && object.kind === 'DataVolume') await makeSource(kube, object);
}

const Clone = z.looseObject({
  source: z.looseObject({ snapshot: z.object({ namespace: z.string(), name: z.string() }) }),
  storage: z.looseObject({
    storageClassName: z.string(),
    resources: z.looseObject({ requests: z.record(z.string(), z.string()) }),
  }),
});

/** Creates the snapshot that a DataVolume is cloned from, if any. Snapshots of file systems were as large as their clones requested. */
async function makeSource(kube: Kube, { spec }: Recorded) {
  const { success, data } = Clone.safeParse(spec);
  if (!success) return;
  const { snapshot } = data.source;
  const { storageClassName, resources } = data.storage;
  const restoreSize = storageClassName === 'gp3' ? '1Gi' : (resources.requests.storage ?? '');
  const driver = storageClassName === 'gp3' ? 'ebs.csi.aws.com' : 'filesystem.csi.test';
  const policy = { driver, deletionPolicy: 'Delete' };
  await kube.create(VolumeSnapshotClass, { metadata: { name: 'golden' }, ...policy });
  const { metadata } = await kube.create(VolumeSnapshot, {
    metadata: { ...snapshot, finalizers: [finalizer.asSource, finalizer.bound] },
    spec: { volumeSnapshotClassName: 'golden', source: { persistentVolumeClaimName: 'golden' } },
  });
  const content = { name: `snapcontent-${metadata.uid}` };
  await kube.create(VolumeSnapshotContent, {
    metadata: { ...content, finalizers: [finalizer.content] },
    spec: { ...policy, source: { volumeHandle: 'golden' }, volumeSnapshotRef: { ...snapshot, uid: metadata.uid } },
  });
  const status = (more: object) => [{ status: { readyToUse: true, ...more } }, { subresource: 'status' }] as const;
  await kube.patch(VolumeSnapshotContent, content, ...status({ creationTime: 0, restoreSize: bytesOf(restoreSize) }));
  const bound = { boundVolumeSnapshotContentName: content.name, creationTime: toTime(0), restoreSize };
  await kube.patch(VolumeSnapshot, snapshot, ...status(bound));
}

async function follow(kube: Kube, resource: Resource, signal: AbortSignal, onChange: Parameters<Kube['watch']>[2]) {
  let resourceVersion = '';
  for await (const page of kube.pages(resource)) resourceVersion = page.resourceVersion;
  void kube.watch(resource, { resourceVersion, signal }, onChange).catch(() => undefined);
}

/** Waits for a condition and checks it at each change. If it is not met in time, the comparison shows it. */
function whenever() {
  let now = () => {};
  const until: Until = (isIt) =>
    new Promise((resolve) => {
      const end = () => {
        clearTimeout(late);
        now = () => {};
        resolve();
      };
      const late = setTimeout(end, patienceMs);
      now = () => {
        if (isIt()) end();
      };
      now();
    });
  return { until, now: () => now() };
}
