import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../shared/kinds/core/pod.ts';
import { Secret, usedAsPassword } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { countReached } from './count-reached.ts';
import { eventsAbout, untilEventAbout } from './events.ts';
import { putImage, requestSync } from './images.ts';
import { leaked } from './leaked.ts';
import {
  createMachine,
  createNetwork,
  createVm,
  deleteWithImage,
  readyVm,
  templateOf,
  untilMachine,
  untilReason,
} from './machines.ts';
import {
  byName,
  comesBack,
  createImage,
  find,
  refIn,
  type Story,
  setPolicy,
  until,
  untilGone,
  untilPhase,
  type World,
} from './world.ts';

const diskOf = (name: string) => `${name}-root`;
const secretOf = (name: string) => `${name}-cloud-init`;

const change = ({ kube, namespace }: World, spec: object) =>
  kube.patch(VirtualMachine, { namespace, name: 'vm' }, { spec });

/** The passwords of the stories: none may be in a log, a trace, an Event, a status or an object of others. */
export const passwords = ['pw-in-plain-text', 'pw-of-the-secret', '$6$salt$pw.hashed/of-a-story'] as const;

const textIn = (secret: Secret | undefined, key: string) => Buffer.from(secret?.data?.[key] ?? '', 'base64').toString();

export const stories = byName<Story>({
  'from apply to Ready: a machine gets its image, its disk, its logins and its address, and runs': {
    provesPermissions: { of: ['provision-vm'] },
    quick: true,
    smoke: true,
    run: async (world) => {
      const { namespace } = world;
      const machine = await readyVm(world, { name: 'Demo VM', users: [{ name: 'demo user' }] });
      const image = await find(world, VMDiskImage, 'base');
      expect(machine.status).toMatchObject({
        observedGeneration: machine.metadata.generation,
        rootDisk: { name: diskOf('vm'), image: image?.metadata.uid, revision: 1 },
        nodeName: expect.any(String),
        ipAddress: expect.stringMatching(/^\d+\.\d+\.\d+\.\d+$/),
        readyAt: expect.any(String),
      });
      expect(machine.status?.trouble).toBeUndefined();
      for (const type of ['ImageResolved', 'ImageReady', 'DiskReady', 'MachineReady', 'Ready']) {
        expect(machine.status?.conditions).toContainEqual(expect.objectContaining({ type, status: 'True' }));
      }
      const disk = await find(world, DataVolume, diskOf('vm'));
      expect(disk?.spec).toMatchObject({ source: { snapshot: { namespace, name: image?.status?.snapshot?.name } } });
      const data = textIn(await find(world, Secret, secretOf('vm')), 'userdata');
      expect(data).toContain('hostname: "demo-vm"');
      expect(data).toContain('name: "demo-user"');
      expect((await untilEventAbout(world, 'vm', 'UserRenamed')).message).toContain('"demo user" → demo-user');
      expect(await untilEventAbout(world, 'vm', 'Running')).toMatchObject({ type: 'Normal' });
    },
  },
  'launched before its image is synced, a machine waits with nothing made, and ends Ready without anyone’s hand': {
    quick: true,
    run: async (world) => {
      await putImage(world, 'late');
      world.store.limitTo(0);
      await createMachine(world, 'vm', 'late', { vmDiskImageTemplate: templateOf(world, 'late') });
      const waiting = await untilReason(world, 'vm', 'ImageReady', 'ImageSyncing');
      expect(waiting.message).toBe(`Waiting for VMDiskImage ${world.namespace}/late: Syncing.`);
      expect(await find(world, VirtualMachine, 'vm')).toMatchObject({ status: { phase: 'Provisioning' } });
      expect(await find(world, DataVolume, diskOf('vm'))).toBeUndefined();
      expect(await find(world, KubeVirtMachine, 'vm')).toBeUndefined();
      world.store.limitTo(undefined);
      await untilMachine(world, 'vm', 'Ready');
      expect(await eventsAbout(world, 'vm', 'ImageFailed')).toEqual([]);
    },
  },
  'a machine that existed before any image of that name ends Ready once a user creates one': async (world) => {
    await createMachine(world, 'vm', 'someday');
    await untilReason(world, 'vm', 'ImageReady', 'ImageMissing');
    await putImage(world, 'someday');
    await createImage(world, 'someday');
    await untilMachine(world, 'vm', 'Ready');
  },
  'thirty machines that wait for one image all end Ready, each with one disk': {
    provesPermissions: { of: ['provision-vm'] },
    run: async (world) => {
      const { kube, namespace } = world;
      const names = Array.from({ length: 30 }, (_, index) => `vm-${index}`);
      await putImage(world, 'base');
      world.store.limitTo(0);
      await createImage(world, 'base');
      for (const name of names) await createMachine(world, name, 'base');
      const ready = await countReached(kube, VirtualMachine, ({ status }) => status?.phase === 'Ready');
      world.store.limitTo(undefined);
      await ready.until(names.length);
      await ready.stop();
      const made = world.history
        .changes()
        .filter(({ type, object }) => type === 'ADDED' && object.kind === DataVolume.kind)
        .map(({ object }) => object.metadata.name);
      expect(made.filter((name) => name.endsWith('-root')).sort()).toEqual(names.map(diskOf).sort());
      expect(await kube.list(KubeVirtMachine, { namespace })).toHaveLength(names.length);
    },
  },
  'a disk is cloned from the namespace of images into that of the machine': {
    provesPermissions: { of: ['provision-vm'] },
    smoke: true,
    run: async (world) => {
      const { store } = world;
      const ref = { namespace: 'vmdi-farm', name: 'golden-of-a-story' };
      await putImage(world, 'golden', { bucket: 'public' });
      const { secretRef: _, ...template } = templateOf(world, 'golden');
      const vmDiskImageTemplate = { ...template, sourceType: 'http' as const, url: `${store.url}/public/golden.qcow2` };
      await createMachine(world, 'vm', ref.name, { vmDiskImageRef: ref, vmDiskImageTemplate });
      await untilMachine(world, 'vm', 'Ready');
      const disk = await find(world, DataVolume, diskOf('vm'));
      expect(disk?.spec).toMatchObject({ source: { snapshot: { namespace: 'vmdi-farm' } } });
      await deleteWithImage(world, 'vm', ref);
    },
  },
  'a password is in the cloud-init Secret and in no other object, status or Event': {
    quick: true,
    smoke: true,
    run: async (world) => {
      const { kube, namespace } = world;
      const [plain, ofSecret, hashed] = passwords;
      const data = { word: Buffer.from(ofSecret).toString('base64') };
      await kube.create(Secret, { metadata: { name: 'login-of-ops', namespace, labels: usedAsPassword }, data });
      await readyVm(world, {
        users: [
          { name: 'demo', plain_text_passwd: plain },
          { name: 'ops', passwordSecretRef: { name: 'login-of-ops', key: 'word' } },
          { name: 'root', hashed_passwd: hashed },
        ],
      });
      const secret = await find(world, Secret, secretOf('vm'));
      const given = textIn(secret, 'userdata');
      expect(given).toContain(`plain_text_passwd: "${plain}"`);
      expect(given).toContain(`plain_text_passwd: "${ofSecret}"`);
      expect(given).toContain(`hashed_passwd: "${hashed}"`);
      expect(leaked(JSON.stringify(secret), passwords)).toEqual(passwords);
      const kinds = [KubeVirtMachine, KubeVirtInstance, DataVolume, VMDiskImage, PersistentVolumeClaim, Pod, Event];
      const found = await Promise.all(kinds.map((kind: Resource) => kube.list(kind, { namespace })));
      for (const list of found) expect(list.length).toBeGreaterThan(0);
      const status = (await find(world, VirtualMachine, 'vm'))?.status;
      const operators = await kube.list(Event, { namespace: 'sync-operator' });
      expect(leaked(JSON.stringify([found, status, operators, world.history.changes()]), passwords)).toEqual([]);
      await kube.delete(Secret, { namespace, name: 'login-of-ops' });
    },
  },
  'a password whose Secret is missing, or lacks its label, delays a machine, which continues when it comes': async (
    world,
  ) => {
    const { kube, namespace } = world;
    const users = [{ name: 'ops', passwordSecretRef: { name: 'login-that-comes', key: 'password' } }];
    await createVm(world, { users });
    expect(await untilReason(world, 'vm', 'Ready', 'PasswordSecretMissing')).toMatchObject({ status: 'False' });
    const data = { password: Buffer.from('x').toString('base64') };
    await kube.create(Secret, { metadata: { name: 'login-that-comes', namespace }, data });
    await untilReason(world, 'vm', 'Ready', 'PasswordSecretNotAllowed');
    await kube.patch(Secret, { name: 'login-that-comes', namespace }, { metadata: { labels: usedAsPassword } });
    await untilMachine(world, 'vm', 'Ready');
    await kube.delete(Secret, { namespace, name: 'login-that-comes' });
  },
  'a fixed address reaches the guest by the MAC address that is the machine’s own': {
    provesPermissions: { of: ['provision-vm'] },
    run: async (world) => {
      const { namespace } = world;
      await createNetwork(world, 'control-net');
      const interfaces = [{ network: 'control-net', ipAddress: '10.10.0.161/24', gateway: '10.10.0.1' }];
      await readyVm(world, { interfaces });
      const isTold = (found: VirtualMachine | undefined) => found?.status?.ipAddress === '10.10.0.161';
      const machine = await until(world, VirtualMachine, { namespace, name: 'vm' }, isTold);
      const instance = await until(world, KubeVirtInstance, { namespace, name: 'vm' }, (found) =>
        Boolean(found?.status?.interfaces.some(({ ipAddress }) => ipAddress === '10.10.0.161')),
      );
      expect(machine?.status?.addresses).toEqual([
        { network: 'control-net', ipAddress: '10.10.0.161', mac: instance?.status?.interfaces[0]?.mac },
      ]);
    },
  },
  'of two machines with one address the second reports the first, and gets the address when that is deleted': async (
    world,
  ) => {
    const { kube, namespace } = world;
    await createNetwork(world, 'control-net');
    const interfaces = [{ network: 'control-net', ipAddress: '10.10.0.161/24' }];
    await readyVm(world, { interfaces });
    await createMachine(world, 'second', 'base', { interfaces });
    const { message } = await untilReason(world, 'second', 'Ready', 'AddressInUse');
    expect(message).toContain(`machine ${namespace}/vm`);
    expect(await find(world, KubeVirtMachine, 'second')).toBeUndefined();
    await kube.delete(VirtualMachine, { namespace, name: 'vm' });
    await untilMachine(world, 'second', 'Ready');
  },
  'what is deleted of a machine comes back: its cloud-init Secret, and its KubeVirt machine with the same disk': async (
    world,
  ) => {
    await readyVm(world);
    const disk = await find(world, DataVolume, diskOf('vm'));
    await comesBack(world, Secret, refIn(world, secretOf('vm')));
    await comesBack(world, KubeVirtMachine, refIn(world, 'vm'));
    await untilMachine(world, 'vm', 'Ready');
    expect((await find(world, DataVolume, diskOf('vm')))?.metadata.uid).toBe(disk?.metadata.uid);
  },
  'a machine whose disk is deleted runs on, reports it, and starts with a new disk': async (world) => {
    const { kube, namespace } = world;
    await readyVm(world);
    await comesBack(world, DataVolume, refIn(world, diskOf('vm')));
    await untilReason(world, 'vm', 'DiskReady', 'DiskReplaced');
    expect(await find(world, VirtualMachine, 'vm')).toMatchObject({ status: { phase: 'Ready' } });
    await kube.delete(KubeVirtInstance, { namespace, name: 'vm' });
    await untilReason(world, 'vm', 'DiskReady', 'Cloned');
    await untilMachine(world, 'vm', 'Ready');
  },
  'a changed spec says that it wants a restart, and is what runs after one': {
    simulators: { kubevirt: { timings: { shutdownMs: 2000 } } },
    run: async (world) => {
      const { kube, namespace } = world;
      await readyVm(world);
      await change(world, { resources: { cpu: '2', memory: '1Gi' } });
      const { message, status } = await untilReason(world, 'vm', 'RestartRequired', 'SpecChanged');
      expect(status).toBe('True');
      expect(message).toContain(`virtctl restart vm -n ${namespace}`);
      expect(await find(world, VirtualMachine, 'vm')).toMatchObject({ status: { phase: 'Ready' } });
      // What virtctl restart comes to.
      await kube.delete(KubeVirtInstance, { namespace, name: 'vm' });
      // The old instance still runs while it stops.
      expect(await untilReason(world, 'vm', 'RestartRequired', 'Restarting')).toMatchObject({ status: 'True' });
      await untilReason(world, 'vm', 'RestartRequired', 'UpToDate');
      await untilMachine(world, 'vm', 'Ready');
      const memory = { template: { spec: { domain: { memory: { guest: '1Gi' }, cpu: { cores: 2 } } } } };
      expect(await find(world, KubeVirtMachine, 'vm')).toMatchObject({ spec: memory });
    },
  },
  'changed users are in the Secret at once, and the machine says that cloud-init has been there': {
    provesPermissions: { of: ['provision-vm'] },
    run: async (world) => {
      await readyVm(world);
      await change(world, { users: [{ name: 'newcomer' }] });
      const { status, message } = await untilReason(world, 'vm', 'RestartRequired', 'CloudInitChanged');
      expect(status).toBe('True');
      expect(message).toContain('cloud-init applies them once for each disk');
      expect(textIn(await find(world, Secret, secretOf('vm')), 'userdata')).toContain('newcomer');
    },
  },
  'a machine with ignoreOnDeploy is made and not started; without it it starts': {
    provesPermissions: { of: ['provision-vm'] },
    run: async (world) => {
      const machine = await readyVm(world, { ignoreOnDeploy: true });
      expect(machine.status?.conditions).toContainEqual(
        expect.objectContaining({ type: 'Ready', status: 'True', reason: 'Halted' }),
      );
      expect(await find(world, KubeVirtMachine, 'vm')).toMatchObject({ spec: { runStrategy: 'Halted' } });
      expect(await find(world, KubeVirtInstance, 'vm')).toBeUndefined();
      await change(world, { ignoreOnDeploy: false });
      await untilReason(world, 'vm', 'Ready', 'Running');
    },
  },
  'a disk that waits for its first start is created again if the image has another revision by then': {
    policy: { keepRevisions: '1' },
    run: async (world) => {
      const { kube, namespace } = world;
      await readyVm(world, { ignoreOnDeploy: true });
      const before = await find(world, VMDiskImage, 'base');
      const disk = await find(world, DataVolume, diskOf('vm'));
      await requestSync(world, 'base', 'today');
      await untilGone(world, VolumeSnapshot, { namespace, name: before?.status?.snapshot?.name ?? '' });
      // What virtctl start comes to.
      await kube.patch(KubeVirtMachine, { namespace, name: 'vm' }, { spec: { runStrategy: 'Always' } });
      await untilReason(world, 'vm', 'Ready', 'Running');
      const machine = await untilMachine(world, 'vm', 'Ready');
      expect(machine.status?.rootDisk).toMatchObject({ revision: 2 });
      expect((await find(world, DataVolume, diskOf('vm')))?.metadata.uid).not.toBe(disk?.metadata.uid);
    },
  },
  'a clone that cannot go on begins again if the image has another revision by then': {
    provesPermissions: { of: ['provision-vm'] },
    simulators: { cdi: { faults: [{ match: 'vm-root', mode: 'cloneError', forMs: 600_000, times: 1 }] } },
    run: async (world) => {
      await createVm(world);
      await untilReason(world, 'vm', 'DiskReady', 'CloneFailed');
      await requestSync(world, 'base', 'today');
      const machine = await untilMachine(world, 'vm', 'Ready');
      expect(machine.status?.rootDisk).toMatchObject({ revision: 2 });
    },
  },
  'a policy that skips machines with ignoreOnDeploy makes nothing of them, and hears of its change': {
    policy: { ignoreOnDeploy: 'Skip' },
    run: async (world) => {
      await createVm(world, { ignoreOnDeploy: true });
      await untilPhase(world, 'base', 'Succeeded');
      await untilReason(world, 'vm', 'Ready', 'Skipped');
      expect(await find(world, DataVolume, diskOf('vm'))).toBeUndefined();
      await setPolicy(world, { ignoreOnDeploy: 'Start' });
      await untilReason(world, 'vm', 'Ready', 'Running');
    },
  },
  'a disk smaller than its image is raised, and a request to grow it later is answered with what to do': async (
    world,
  ) => {
    const { namespace } = world;
    await readyVm(world, { resources: { cpu: '1', memory: '512Mi', diskSize: '32Mi' } });
    expect((await untilEventAbout(world, 'vm', 'DiskSizeRaised')).message).toContain('found 32Mi');
    expect(await eventsAbout(world, 'vm', 'DiskSizeRaised')).toHaveLength(1);
    await change(world, { resources: { cpu: '1', memory: '512Mi', diskSize: '1Gi' } });
    const { message } = await untilReason(world, 'vm', 'DiskReady', 'DiskSizeNotApplied');
    expect(message).toContain(`PersistentVolumeClaim ${namespace}/${diskOf('vm')}`);
  },
  'an image that Failed fails its machine, in its words; both heal when a new sync is requested': async (world) => {
    await createMachine(world, 'vm', 'broken', { vmDiskImageTemplate: templateOf(world, 'broken') });
    await untilPhase(world, 'broken', 'Failed');
    const failed = await untilMachine(world, 'vm', 'Failed');
    const image = await find(world, VMDiskImage, 'broken');
    expect(failed.status?.message).toContain(image?.status?.message);
    expect(await untilEventAbout(world, 'vm', 'ImageFailed')).toMatchObject({ type: 'Warning' });
    await putImage(world, 'broken');
    await requestSync(world, 'broken', 'again');
    await untilMachine(world, 'vm', 'Ready');
  },
  'what was created for a machine is deleted with it, and what is not its own stays': {
    smoke: true,
    run: async (world) => {
      const { kube, namespace } = world;
      await readyVm(world);
      await kube.create(Secret, { metadata: { name: 'vm', namespace }, data: {} });
      await kube.delete(VirtualMachine, { namespace, name: 'vm' });
      const children = [
        [VirtualMachine, 'vm'],
        [KubeVirtMachine, 'vm'],
        [KubeVirtInstance, 'vm'],
        [Secret, secretOf('vm')],
        [DataVolume, diskOf('vm')],
        [PersistentVolumeClaim, diskOf('vm')],
      ] as const;
      for (const [kind, name] of children) await untilGone(world, kind as Resource, { namespace, name });
      expect(await find(world, Secret, 'vm')).toBeDefined();
      await kube.delete(Secret, { namespace, name: 'vm' });
    },
  },
  'a machine of the name of one that goes waits until the other’s things are gone': async (world) => {
    const { kube, namespace } = world;
    const first = await readyVm(world);
    await kube.delete(VirtualMachine, { namespace, name: 'vm' });
    await untilGone(world, VirtualMachine, { namespace, name: 'vm' });
    await createMachine(world, 'vm', 'base');
    const second = await untilMachine(world, 'vm', 'Ready');
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    const owners = [{ uid: second.metadata.uid }];
    expect(await find(world, DataVolume, diskOf('vm'))).toMatchObject({ metadata: { ownerReferences: owners } });
    expect(await eventsAbout(world, 'vm', 'NameTaken')).toEqual([]);
  },
});
