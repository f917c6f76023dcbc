import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCdi } from '../../../deploy/local/cdi/start-cdi.ts';
import { realClock } from '../../../deploy/local/clock.ts';
import { importImage } from '../../../deploy/local/importer/import-image.ts';
import { startKubevirt } from '../../../deploy/local/kubevirt/start-kubevirt.ts';
import { startObjectStore } from '../../../deploy/local/object-store/object-store.ts';
import { qcow2Buffer } from '../../../deploy/local/object-store/qcow2.ts';
import { giveAccount } from '../../../deploy/local/openstack/account.ts';
import { startSnapshotter } from '../../../deploy/local/snapshots/start-snapshotter.ts';
import { Namespace } from '../../../shared/kinds/core/namespace.ts';
import { KupenStackMachine } from '../../../shared/kinds/kupenstack/virtual-machine.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { persistently } from '../../cluster/persistently.ts';
import { sessionOf, simulated } from '../../stories/openstack/services.ts';
import { createMachine, createNetwork, createVolume, makeBootable } from '../../stories/openstack/world.ts';
import { setPolicy, until } from '../../stories/world.ts';
import { benchNamespace, benchPolicy, imageSpec, type Source } from './images.ts';

/** What else an installation has beside images: machines, workspaces of two machines, servers on OpenStack. */
export const counts = { machines: 50, workspaces: 5, servers: 5 };

/** They exist and are at rest. */
export interface Others {
  /** Changes one after the other, in such intervals, until the signal aborts, and resolves with the number of changes. */
  change(everyMs: number, signal: AbortSignal): Promise<number>;
  close(): Promise<void>;
}

const namespace = 'others';
const image = { namespace: benchNamespace, name: 'shared' };
const readyWithinMs = 600_000;

/** Makes them on a real cluster whose functions of all systems are installed; `host` is where Pods reach this process. */
export async function makeOthers(kube: Kube, source: Source, host: string): Promise<Others> {
  const store = await startObjectStore({ keys: [{ accessKeyId: 'x', secretKey: 'x' }] });
  const disk = qcow2Buffer({ virtualBytes: 32 * 1024 * 1024, dataBytes: 256 * 1024, seed: image.name });
  await store.put('images', `${image.name}.qcow2`, disk);
  const { allowedSources, ...policy } = benchPolicy(source, 4);
  await setPolicy(
    { kube },
    { ...policy, networkProvider: 'bridge', allowedSources: `${allowedSources}\n${store.url}/** ${benchNamespace}` },
  );
  await kube.create(Namespace, { metadata: { name: namespace } });
  const openStack = await simulated({ host });
  await giveAccount(kube, openStack.login);
  const folder = await mkdtemp(join(tmpdir(), 'ot-others-'));
  const storage = [
    startCdi({
      ...{ kube, clock: realClock, importImage },
      timings: { nextPodMs: 500 },
      variants: { clusterBinds: true, foldersBelow: folder },
    }),
    startSnapshotter({ kube, clock: realClock, cutMs: 50, readyMs: 150 }),
  ];
  const kubevirt = startKubevirt({ kube, clock: realClock });
  const url = `${store.url}/images/${image.name}.qcow2`;
  const classes = { storageClass: 'gp3', snapshotClass: 'ebs-snapshot', diskSize: '64Mi' };
  await kube.create(VMDiskImage, { metadata: image, spec: { ...imageSpec(source), ...classes, url } });
  const made = [
    ...(await makeMachines(kube)),
    ...(await makeWorkspaces(kube)),
    ...(await makeServers(kube, openStack)),
  ];
  for (const { resource, ref, phase } of made)
    await until({ kube }, resource, ref, (found) => phaseOf(found) === phase, readyWithinMs);
  // The images that are measured are downloaded and snapshotted by others.
  for (const one of storage) await one.stop();
  return {
    async change(everyMs, signal) {
      let changes = 0;
      while (!signal.aborted) {
        const next = made[changes % made.length];
        const change = next?.changed(Math.floor(changes / made.length));
        if (next) await persistently(() => kube.patch(next.resource, next.ref, change), signal);
        changes++;
        await sleep(everyMs, undefined, { signal }).catch(() => undefined);
      }
      return changes;
    },
    async close() {
      await kubevirt.stop();
      await openStack.close();
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Made {
  resource: Resource;
  ref: ObjectReference;
  phase: string;
  /** A patch that differs from the previous round. */
  changed(round: number): object;
}

const phaseOf = (found: object | undefined) => (found as { status?: { phase?: string } } | undefined)?.status?.phase;

const namesOf = (what: string, count: number) => Array.from({ length: count }, (_, index) => `${what}-${index}`);

/** What a machine asks for, in this round. */
const sized = (round: number) => ({ resources: { cpu: '1', memory: round % 2 ? '64Mi' : '65Mi' } });

const makeMachines = (kube: Kube): Promise<Made[]> =>
  Promise.all(
    namesOf('machine', counts.machines).map(async (name) => {
      const ref = { namespace, name };
      await kube.create(VirtualMachine, { metadata: ref, spec: { ...sized(1), vmDiskImageRef: image } });
      return { resource: VirtualMachine, ref, phase: 'Ready', changed: (round) => ({ spec: sized(round) }) };
    }),
  );

const makeWorkspaces = (kube: Kube): Promise<Made[]> =>
  Promise.all(
    namesOf('workspace', counts.workspaces).map(async (name) => {
      const specIn = (round: number) => ({
        vms: namesOf('vm', 2).map((vm) => ({ name: vm, backingVMDiskImage: image.name, ...sized(round) })),
      });
      await kube.create(Workspace, { metadata: { name }, spec: specIn(1) });
      return { resource: Workspace, ref: { name }, phase: 'Ready', changed: (round) => ({ spec: specIn(round) }) };
    }),
  );

async function makeServers(kube: Kube, { login }: Awaited<ReturnType<typeof simulated>>): Promise<Made[]> {
  const within = (project?: string) => sessionOf(login, project);
  const world = { kube, namespace, admin: within(), within };
  await createNetwork(world, 'net');
  return Promise.all(
    namesOf('server', counts.servers).map(async (name) => {
      await createVolume(world, name);
      await createMachine(world, name, { virtualNetworks: ['net'], diskAttachments: [{ name }] });
      await makeBootable(world, name);
      // To resize a server takes as long as to make one.
      const changed = (round: number) => ({ metadata: { annotations: { 'bench.example.com/round': `${round}` } } });
      return { resource: KupenStackMachine, ref: { namespace, name }, phase: 'Running', changed };
    }),
  );
}
