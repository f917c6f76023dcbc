import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { holdersOf, leaseRef } from '../../shared/images/slots.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { policyRef } from '../../shared/policy.ts';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import { countReached } from '../../test/stories/count-reached.ts';
import { createMachine, untilMachine } from '../../test/stories/machines.ts';
import { until, untilGone } from '../../test/stories/world.ts';
import { type Spawned, spawned } from '../../test/support/tools/spawned.ts';
import { applyManifests } from '../manifests.ts';
import { Store } from './api-server/store.ts';
import { openDataFolder } from './data-folder.ts';
import { type ObjectStore, startObjectStore } from './object-store/object-store.ts';
import { qcow2Buffer } from './object-store/qcow2.ts';
import { secretManifest } from './up/key-pair.ts';
import { anyPorts } from './up/ports.ts';

const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };
const names = ['image-0', 'image-1', 'image-2', 'image-3', 'image-4', 'image-5'];
const namespace = 'vmdi-farm';
const machineNames = names.map((name) => name.replace('image', 'machine'));
const retryLimit = 2;
const bytesPerSecond = 400_000;
const content = (name: string) => qcow2Buffer({ virtualBytes: 32 * 1024 ** 2, dataBytes: 400_000, seed: name });
const minuteMs = 60_000;

let base: string;
let folder: string;
/** Outlives the cluster, and so can tell what all its lives have downloaded. */
let store: ObjectStore;
const commands: Spawned[] = [];

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'restart-'));
  folder = join(base, 'state');
  store = await startObjectStore({ keys: [keys], bytesPerSecond });
  for (const name of names) await store.put('images', `${name}.qcow2`, content(name));
});

afterEach(async () => {
  for (const command of commands.splice(0)) await command.dispose();
  await store.close();
  await rm(base, { recursive: true });
});

async function start(): Promise<Spawned> {
  const command = await spawned('up.ts', '--state', folder, ...anyPorts);
  commands.push(command);
  await command.until(/The store has/);
  return command;
}

async function kill(command: Spawned, signal: 'SIGKILL' | 'SIGINT'): Promise<number | null> {
  command.child.kill(signal);
  return command.ended;
}

function clientOf(kubeconfig: string): Kube {
  const config = new KubeConfig();
  config.loadFromString(kubeconfig);
  return kubeClient(config);
}

/** A machine on each of the images waits for its download. */
async function setUp(kube: Kube) {
  await applyManifests(kube, [secretManifest({ namespace, secretName: 'reader', keys })]);
  const allowedSources = `${store.url}/**`;
  const data = { concurrency: '3', retryLimit: String(retryLimit), retryBackoffDuration: '200ms', allowedSources };
  await kube.patch(ConfigMap, policyRef, { data });
  for (const name of names) {
    await kube.create(VMDiskImage, {
      metadata: { name, namespace },
      spec: {
        storageClass: 'gp3',
        snapshotClass: 'ebs-snapshot',
        secretRef: 'reader',
        url: `${store.url}/images/${name}.qcow2`,
        diskSize: '64Mi',
      },
    });
    await createMachine({ kube, namespace }, name.replace('image', 'machine'), name);
  }
}

const sentFor = (name: string) => store.bytesSent(`images/${name}.qcow2`);

/** Resolves when this many downloads are in their middle. */
function inTheMiddle(count: number): Promise<void> {
  const before = new Map(names.map((name) => [name, sentFor(name)]));
  return new Promise((resolve) => {
    const off = store.onBytes(() => {
      const begun = names.filter((name) => sentFor(name) - (before.get(name) ?? 0) > 60_000);
      if (begun.length < count) return;
      off();
      resolve();
    });
  });
}

const kinds: readonly Resource[] = [
  VMDiskImage,
  DataVolume,
  PersistentVolumeClaim,
  Pod,
  VolumeSnapshot,
  Lease,
  ConfigMap,
  VirtualMachine,
  KubeVirtMachine,
  KubeVirtInstance,
  Secret,
];

/** The last state of every object that a client has heard of, up to the moment when the cluster is killed. */
async function lastStates(kube: Kube) {
  const states = new Map<string, { resource: Resource; object: KubernetesObject | undefined }>();
  for (const resource of kinds) {
    const remember = (object: KubernetesObject, isGone = false) =>
      states.set(`${resource.apiVersion} ${resource.kind} ${object.metadata.uid}`, {
        resource,
        object: isGone ? undefined : object,
      });
    let resourceVersion = '';
    for await (const page of kube.pages(resource)) {
      for (const object of page.items) remember(object);
      ({ resourceVersion } = page);
    }
    // It ends with the cluster.
    const { signal } = new AbortController();
    const watching = kube.watch(resource, { resourceVersion, signal }, ({ type, object }) =>
      remember(object, type === 'DELETED'),
    );
    void watching.catch(() => undefined);
  }
  return states;
}

/** What the folder of a killed cluster holds, read from a copy of it. */
async function leftBehind(): Promise<Store> {
  const copy = join(base, `copy-${commands.length}`);
  await cp(folder, copy, { recursive: true });
  const dataFolder = openDataFolder(copy);
  const found = new Store(1, dataFolder.storeFile);
  dataFolder.close();
  return found;
}

const versionOf = ({ metadata }: KubernetesObject) => Number(metadata.resourceVersion);

/** A KubeVirt machine has the kind of ours, and stays as long. */
const isTemporary = (resource: Resource) =>
  ![VMDiskImage, Lease, ConfigMap, VirtualMachine, Secret].some(({ kind }) => kind === resource.kind);

const storeKeyOf = ({ apiVersion, plural }: Resource) =>
  `${apiVersion.includes('/') ? apiVersion.split('/')[0] : ''}/${plural}`;

test(
  'a cluster that is killed twice in the middle of its downloads loses nothing and gets them all done',
  async () => {
    let command = await start();
    const kubeconfig = await readFile(join(folder, 'kubeconfig'), 'utf8');
    let kube = clientOf(kubeconfig);
    await setUp(kube);

    for (const _ of ['first', 'second']) {
      const states = await lastStates(kube);
      await inTheMiddle(2);
      const done = (await kube.list(VMDiskImage)).filter(({ status }) => status?.phase === 'Succeeded');
      await kill(command, 'SIGKILL');
      const left = await leftBehind();
      for (const { resource, object } of states.values()) {
        if (!object) continue;
        const now = left.get(storeKeyOf(resource), object.metadata.namespace, object.metadata.name);
        // What was written or deleted in the last moment was not heard of any more.
        const isNewer = now ? now.metadata.resourceVersion !== object.metadata.resourceVersion : isTemporary(resource);
        if (isNewer)
          expect(Number(now?.metadata.resourceVersion ?? Number.POSITIVE_INFINITY)).toBeGreaterThan(versionOf(object));
        else expect(now && resource.parse(now)).toEqual(object);
      }

      command = await start();
      expect(await readFile(join(folder, 'kubeconfig'), 'utf8')).toBe(kubeconfig);
      kube = clientOf(kubeconfig);
      for (const { metadata, status } of done) {
        expect(await kube.get(VMDiskImage, metadata)).toMatchObject({ metadata: { uid: metadata.uid }, status });
      }
    }

    const isThere = ({ status }: VMDiskImage) => status?.phase === 'Succeeded';
    const allThere = (await Promise.all(
      names.map((name) =>
        until({ kube }, VMDiskImage, { namespace, name }, (image) => !!image && isThere(image), minuteMs),
      ),
    )) as VMDiskImage[];
    const sent = names.map(sentFor);
    console.log(
      `after two kills: attempts ${allThere.map(({ status }) => (status?.attempts ?? 0) + 1)}, downloads ${sent.map((bytes, index) => (bytes / content(names[index] ?? '').length).toFixed(2))}`,
    );
    for (const [index, bytes] of sent.entries()) {
      expect(bytes).toBeLessThanOrEqual((retryLimit + 1) * content(names[index] ?? '').length);
    }
    const machines = await Promise.all(machineNames.map((name) => untilMachine({ kube, namespace }, name, 'Ready')));
    expect(machines.map(({ status }) => status?.rootDisk?.image)).toEqual(allThere.map(({ metadata }) => metadata.uid));
    await until({ kube }, Lease, leaseRef, (found) => holdersOf(found)?.length === 0);
    const snapshots = await kube.list(VolumeSnapshot);
    expect(snapshots.map(({ status }) => status?.readyToUse)).toEqual(names.map(() => true));

    expect(await kill(command, 'SIGINT')).toBe(0);
    await start();
    kube = clientOf(kubeconfig);
    expect(await kube.list(VMDiskImage)).toEqual(allThere.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)));
    expect(names.map(sentFor)).toEqual(sent);
  },
  4 * minuteMs,
);

/** What the guests of these machines are: another uid is another start. */
const guestsOf = async (kube: Kube, names: readonly string[]) =>
  (await kube.list(KubeVirtInstance, { namespace }))
    .filter(({ metadata }) => names.includes(metadata.name))
    .map(({ metadata, status }) => ({
      name: metadata.name,
      uid: metadata.uid,
      // Their status grows when the guest agent reports.
      addresses: status?.interfaces?.map(({ mac, ipAddress }) => ({ mac, ipAddress })),
    }));

test(
  'machines that are killed in the middle of their making are made once, and those that run go on running',
  async () => {
    let command = await start();
    let kube = clientOf(await readFile(join(folder, 'kubeconfig'), 'utf8'));
    await setUp(kube);
    await untilMachine({ kube, namespace }, 'machine-0', 'Ready', 2 * minuteMs);
    const crowd = Array.from({ length: 20 }, (_, index) => `crowd-${index}`);
    const ready = await countReached(kube, VirtualMachine, ({ metadata, status }) => {
      return crowd.includes(metadata.name) && status?.phase === 'Ready';
    });
    for (const name of crowd) await createMachine({ kube, namespace }, name, 'image-0');
    await ready.until(3);
    await ready.stop();
    const isReady = ({ status }: VirtualMachine) => status?.phase === 'Ready';
    const before = await kube.list(VirtualMachine, { namespace });
    const running = before.filter(isReady).map(({ metadata }) => metadata.name);
    const guests = await guestsOf(kube, running);
    await kill(command, 'SIGKILL');
    expect(running.length).toBeLessThan(before.length);

    command = await start();
    kube = clientOf(await readFile(join(folder, 'kubeconfig'), 'utf8'));
    const all = [...crowd, ...machineNames];
    const after = await Promise.all(all.map((name) => untilMachine({ kube, namespace }, name, 'Ready', 4 * minuteMs)));
    expect(await guestsOf(kube, running)).toEqual(guests);
    const uidOf = new Map(after.map(({ metadata }) => [metadata.name, metadata.uid]));
    for (const { metadata } of before) expect(uidOf.get(metadata.name)).toBe(metadata.uid);
    const kinds: readonly Resource[] = [KubeVirtMachine, KubeVirtInstance];
    for (const resource of kinds)
      expect((await kube.list(resource, { namespace })).map(({ metadata }) => metadata.name).sort()).toEqual(
        all.sort(),
      );

    const image = await until({ kube }, VMDiskImage, { namespace, name: 'image-0' }, (found) => {
      return found?.status?.references?.count === crowd.length + 1;
    });
    const [stood, ran] = [await kube.list(VirtualMachine), await guestsOf(kube, all)];
    expect(await kill(command, 'SIGINT')).toBe(0);
    await start();
    kube = clientOf(await readFile(join(folder, 'kubeconfig'), 'utf8'));
    expect(await kube.list(VirtualMachine)).toEqual(stood);
    expect(await guestsOf(kube, all)).toEqual(ran);

    // All controllers work again: a deleted image is removed with the last of its machines.
    await kube.delete(VMDiskImage, { namespace, name: 'image-0' });
    for (const name of [...crowd, 'machine-0']) {
      expect((await kube.get(VMDiskImage, { namespace, name: 'image-0' }))?.metadata.uid).toBe(image?.metadata.uid);
      await kube.delete(VirtualMachine, { namespace, name });
    }
    await untilGone({ kube }, VMDiskImage, { namespace, name: 'image-0' });
    for (const name of [...crowd, 'machine-0']) {
      await untilGone({ kube }, KubeVirtInstance, { namespace, name });
      await untilGone({ kube }, Secret, { namespace, name: `${name}-cloud-init` });
      await untilGone({ kube }, DataVolume, { namespace, name: `${name}-root` });
    }
  },
  8 * minuteMs,
);

test(
  'a second process on the same folder ends with one line',
  async () => {
    const first = await start();
    const second = await spawned('up.ts', '--state', folder, '--port', '0', '--fresh');
    commands.push(second);
    expect(await second.ended).toBe(1);
    expect(second.stderr()).toBe(
      `start: expected the folder ${folder} for this process alone, found another process in it (process ${first.child.pid}): stop that process, or choose another folder with --state\n`,
    );
  },
  minuteMs,
);
