import { describe, expect, test } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { refusalKey } from '../../shared/kubernetes/refusal.ts';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aKubeVirtMachine, anInstance } from '../../test/support/builders/machine-children.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import {
  aMadeMachine,
  aReadyImage,
  changed,
  madeIn,
  reconcile,
  textIn,
  written,
} from '../../test/support/harness/provision-vm.ts';

const all = ['create DataVolume', 'create Secret', 'create VirtualMachine', 'patchStatus VirtualMachine'];
const running = { printableStatus: 'Running', ready: true };
const leaving = <T extends KubernetesObject>(object: T, seconds = 5): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: at(seconds) },
});

describe('a machine whose image is not ready', () => {
  test.each<[string, VMDiskImageStatus | undefined, string, string]>([
    ['no function has looked at yet', undefined, 'Provisioning', 'ImageQueued'],
    ['waits for a slot', { phase: 'Queued' }, 'Provisioning', 'ImageQueued'],
    ['is downloaded', { phase: 'Syncing' }, 'Provisioning', 'ImageSyncing'],
    ['is tried again', { phase: 'Retrying' }, 'Provisioning', 'ImageRetrying'],
    ['has lost its snapshot', { phase: 'Succeeded' }, 'Provisioning', 'ImageNotUsable'],
    ['has Failed', { phase: 'Failed', message: 'Not tried again: NoSuchKey.' }, 'Failed', 'ImageFailed'],
  ])('an image that %s: nothing is made', (_, status, phase, reason) => {
    const image = aVMDiskImage(status ? { status } : {});
    const found = reconcile({ image });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.status?.phase).toBe(phase);
    expect(found.conditions).toMatchObject({ ImageReady: `False ${reason}`, Ready: `False ${reason}` });
  });
  test.each(['Succeeded', 'Syncing'] as const)(
    'an image whose status names a lost snapshot: nothing is made (%s)',
    (phase) => {
      const { status, ...image } = aReadyImage();
      const conditions = status?.conditions?.map((one) => ({
        ...one,
        status: 'False' as const,
        reason: 'SnapshotLost',
      }));
      const found = reconcile({ image: { ...image, status: { ...status, phase, conditions } } });
      expect(found.writes).toEqual(['patchStatus VirtualMachine']);
      expect(found.conditions.ImageReady).toBe(phase === 'Succeeded' ? 'False ImageNotUsable' : 'False ImageSyncing');
    },
  );
  test('shows the phase of the image, and the words it Failed with', () => {
    expect(reconcile({ image: aVMDiskImage({ status: { phase: 'Syncing' } }) }).status?.message).toBe(
      'Waiting for VMDiskImage vmdi-farm/ubuntu: Syncing.',
    );
    const retrying = aVMDiskImage({ status: { phase: 'Retrying', message: 'EOF. Next attempt at 00:06 UTC.' } });
    expect(reconcile({ image: retrying }).status?.message).toBe(
      'Waiting for VMDiskImage vmdi-farm/ubuntu: Retrying: EOF. Next attempt at 00:06 UTC.',
    );
    const message = 'Waiting: the queue is paused (concurrency 0).';
    const queued = (reason: string, phase: 'Queued' | 'Syncing' = 'Queued') =>
      aVMDiskImage({
        status: {
          phase,
          message,
          conditions: [{ type: 'Ready', status: 'False', reason, message, lastTransitionTime: at(0) }],
        },
      });
    for (const reason of ['QueuePaused', 'SourceUnreachable'])
      expect(reconcile({ image: queued(reason) }).status?.message).toBe(
        `Waiting for VMDiskImage vmdi-farm/ubuntu: Queued: ${message}`,
      );
    expect(reconcile({ image: queued('SyncBlocked', 'Syncing') }).status?.message).toBe(
      `Waiting for VMDiskImage vmdi-farm/ubuntu: Syncing: ${message}`,
    );
    // Who holds the slots changes all the time.
    expect(reconcile({ image: queued('Queued') }).status?.message).toBe(
      'Waiting for VMDiskImage vmdi-farm/ubuntu: Queued.',
    );
    const image = aVMDiskImage({ status: { phase: 'Failed', message: 'Not tried again: NoSuchKey.' } });
    expect(reconcile({ image }).status?.message).toContain('found it Failed: Not tried again: NoSuchKey.');
  });
  test.each([
    ['with a template', { vmDiskImageTemplate: aVMDiskImage().spec }, 'Provisioning', /is made from the template/],
    [
      'without one',
      {},
      'Provisioning',
      /does not exist\. Create it, .*\. If its name is misspelt, create the machine again/,
    ],
    ['that must not be made', { mode: 'FailIfNotExist' as const }, 'Failed', /Create it, or set mode/],
  ])('a missing image, %s', (_, spec, phase, message) => {
    const found = reconcile({ image: undefined, machine: aVirtualMachine({ spec }) });
    expect(found.status?.message).toMatch(message);
    expect(found).toMatchObject({ status: { phase }, conditions: { ImageReady: 'False ImageMissing' } });
  });
  test.each([
    ['SourceNotAllowed', 'Failed'],
    ['ImageTerminating', 'Provisioning'],
    ['InvalidPolicy', 'Provisioning'],
  ])('a missing image of which ensure-vmdi says %s', (reason, phase) => {
    const conditions = [
      { type: 'ImageResolved', status: 'False' as const, reason, message: 'Why.', lastTransitionTime: at(0) },
    ];
    const found = reconcile({ image: undefined, machine: aVirtualMachine({ status: { conditions } }) });
    expect(found.status).toMatchObject({ phase, message: 'Why.' });
    expect(found.conditions).toMatchObject({ ImageReady: `False ${reason}`, ImageResolved: `False ${reason}` });
  });
  test('an image of a namespace that the policy does not name', () => {
    const found = reconcile({ policy: { imageNamespaces: 'golden' } });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False ImageNamespaceNotAllowed');
    expect(found.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining('golden') });
  });
  test('a policy that does not say which namespaces', () => {
    expect(reconcile({ policy: { imageNamespaces: '' } }).conditions.Ready).toBe('False InvalidPolicy');
  });
});

describe('a machine that was Ready and whose first password was taken away', () => {
  test('gets its KubeVirt machine back: what was made of the password is there', () => {
    const spec = { users: [{ name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } }] };
    const passwords = new Map([['login/password', 'hunter2']]);
    const made = aMadeMachine({ spec, status: { readyAt: at(5) } }, { passwords });
    const found = reconcile({ ...made, passwords: new Map(), kubeVirtMachine: undefined });
    expect(found.writes).toEqual(['create VirtualMachine', 'patchStatus VirtualMachine']);
    const lost = reconcile({ ...made, passwords: new Map(), kubeVirtMachine: undefined, secret: undefined });
    expect(lost.conditions.Ready).toBe('False PasswordSecretMissing');
  });
});

describe('an image that is being deleted', () => {
  const deleted = leaving(aReadyImage(), 60);
  test('is waited out by a machine that came later', () => {
    const found = reconcile({ image: deleted, machine: aVirtualMachine({ createdAfterSeconds: 61 }) });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False ImageTerminating');
  });
  test('is cloned by a machine that was there before', () => {
    expect(reconcile({ image: deleted, machine: aVirtualMachine({ createdAfterSeconds: 59 }) }).writes).toEqual(all);
  });
});

describe('a machine whose image is ready', () => {
  test('gets its disk, its Secret and its KubeVirt machine, in this order, then its status', () => {
    const found = reconcile();
    expect(found.writes).toEqual(all);
    expect(found.status).toMatchObject({
      phase: 'Provisioning',
      rootDisk: { name: 'demo-root', image: 'uid-ubuntu', revision: 1 },
    });
    expect(found.conditions).toMatchObject({ ImageReady: 'True ImageReady', DiskReady: 'False Cloning' });
    for (const action of found.actions) if (action.do === 'create') expect(action.owner).toBe('uid-demo');
  });
  test('gets the next of them where a crash left some out', () => {
    const made = aMadeMachine();
    expect(reconcile({ ...made, secret: undefined, kubeVirtMachine: undefined }).writes.slice(0, 2)).toEqual([
      'create Secret',
      'create VirtualMachine',
    ]);
    expect(reconcile({ ...made, dataVolume: undefined }).writes[0]).toBe('create DataVolume');
  });
  test('is left alone once all is there and said', () => {
    const made = aMadeMachine({}, { machine: running });
    const { status } = reconcile(made);
    expect(reconcile({ ...made, machine: written(made.machine, status) }).actions).toEqual([]);
  });
  test('and that is being deleted gets nothing any more', () => {
    expect(reconcile({ machine: aVirtualMachine({ deleted: true }) }).actions).toEqual([]);
  });
});

describe('the root disk', () => {
  const diskOf = (diskSize?: string, image = aReadyImage()) => {
    const machine = aVirtualMachine({
      spec: { resources: { cpu: '2', memory: '2Gi', ...(diskSize ? { diskSize } : {}) } },
    });
    const found = reconcile({ machine, image });
    return { ...found, disk: madeIn(found.actions, DataVolume) };
  };
  test('is a clone of the snapshot in the class of the image, bound when the machine starts', () => {
    const { disk } = diskOf();
    expect(disk).toMatchObject({
      metadata: {
        name: 'demo-root',
        namespace: 'lab',
        labels: { 'app.kubernetes.io/managed-by': 'ot-functions', 'pelotech.ot/virtual-machine-uid': 'uid-demo' },
        ownerReferences: [{ kind: 'VirtualMachine', uid: 'uid-demo', controller: true }],
      },
      spec: {
        source: { snapshot: { namespace: 'vmdi-farm', name: 'ubuntu-r1' } },
        storage: { storageClassName: 'gp3' },
      },
    });
    expect(JSON.stringify(disk)).not.toContain('bind.immediate');
  });
  test.each([
    [undefined, undefined, []],
    ['18Gi', undefined, ['DiskSizeRaised']],
    ['24Gi', undefined, []],
    ['40Gi', '40Gi', []],
  ])('of %s requests %s from CDI, and no size if the size of the snapshot is enough', (wanted, storage, warnings) => {
    const found = diskOf(wanted);
    const { resources } = (found.disk as unknown as { spec: { storage: { resources?: unknown } } }).spec.storage;
    expect(resources).toEqual(storage && { requests: { storage } });
    expect(found.warnings).toEqual(warnings);
  });
  test.each([undefined, '0'])('is as large as the image if the snapshot reports no size (%s)', (restoreSize) => {
    const image = aReadyImage();
    const snapshot = { name: 'ubuntu-r1', revision: 1, ...(restoreSize ? { restoreSize } : {}) };
    expect(diskOf('18Gi', { ...image, status: { ...image.status, snapshot } }).disk).toMatchObject({
      spec: { storage: { resources: { requests: { storage: '24Gi' } } } },
    });
  });
  test.each([
    ['is being cloned', { phase: 'CloneScheduled' }, 'Provisioning', 'False Cloning'],
    [
      'has no snapshot',
      { phase: '', bound: { status: 'False', reason: 'CloneWithoutSource' } },
      'Provisioning',
      'False CloneWithoutSource',
    ],
    [
      'fails to be cloned',
      { phase: 'CloneInProgress', running: { status: 'False', reason: 'Error' } },
      'Provisioning',
      'False CloneFailed',
    ],
    ['was given up', { phase: 'Failed' }, 'Failed', 'False DiskFailed'],
  ])('that %s', (_, disk, phase, condition) => {
    const found = reconcile(aMadeMachine({}, { disk }));
    expect({ ...aMadeMachine().machine.status, ...found.status }).toMatchObject({ phase });
    expect(found.conditions.DiskReady).toBe(condition);
  });
  test.each([
    ['PendingPopulation', 'Starting', 'False Cloning'],
    ['PendingPopulation', 'ErrorUnschedulable', 'False WaitForFirstConsumer'],
    ['WaitForFirstConsumer', 'ErrorUnschedulable', 'False WaitForFirstConsumer'],
    ['CloneScheduled', 'ErrorUnschedulable', 'False Cloning'],
  ])('in phase %s waits for the Pod if no node fits it (machine: %s)', (phase, printableStatus, expected) => {
    const found = reconcile(aMadeMachine({}, { disk: { phase }, machine: { printableStatus } }));
    expect(found.conditions.DiskReady ?? 'False Cloning').toBe(expected);
  });
  test.each([
    ['is gone', { dataVolume: undefined }],
    ['is another', {}],
  ])('that was deleted under a machine that runs, and %s, is reported as replaced', (_, given) => {
    const made = aMadeMachine({}, { disk: { phase: 'Pending' }, machine: running });
    const found = reconcile({ ...made, ...given });
    expect(found.conditions).toMatchObject({ Ready: 'True Running', DiskReady: 'False DiskReplaced' });
  });
  test('that is asked to be larger later is not, and the status says so', () => {
    const made = aMadeMachine({}, { machine: running });
    const found = reconcile(changed(made, { resources: { cpu: '2', memory: '2Gi', diskSize: '40Gi' } }));
    expect(found.warnings).toEqual(['DiskSizeNotApplied']);
    expect(found.conditions.DiskReady).toBe('True DiskSizeNotApplied');
  });
  test('that is too small is one Event, however often the machine hibernates and wakes', () => {
    const spec = { resources: { cpu: '2', memory: '2Gi', diskSize: '18Gi' } };
    const eventIn = ({ actions }: ReturnType<typeof reconcile>) => {
      const [event] = actions.flatMap((one) =>
        one.do === 'recordEvent' && one.reason === 'DiskSizeRaised' ? one : [],
      );
      return { message: event?.message, once: event?.once };
    };
    const first = eventIn(reconcile({ machine: aVirtualMachine({ spec }) }));
    expect(first.message).toContain('found 18Gi');
    expect(eventIn(reconcile(changed(aMadeMachine({ spec }, { machine: running }), { halted: true })))).toEqual(first);
  });
});

describe('a disk whose snapshot is no more the one to clone from', () => {
  const imageAt = (revision: number, more: object = {}) => {
    const image = aReadyImage();
    const snapshot = { name: `ubuntu-r${revision}`, revision, restoreSize: '24Gi' };
    return { ...image, metadata: { ...image.metadata, ...more }, status: { ...image.status, revision, snapshot } };
  };
  const unusable = { ...imageAt(2), status: { phase: 'Syncing' as const, revision: 2 } };
  const lost = { status: 'False', reason: 'CloneWithoutSource' };
  const stuck = { status: 'False', reason: 'Error', message: 'source claim does not exist' };
  type Case = [
    string,
    NonNullable<Parameters<typeof aMadeMachine>[1]>['disk'],
    Parameters<typeof reconcile>[0],
    boolean,
  ];
  test.each<Case>([
    ['no function has looked at', { phase: '', hasClaim: false }, {}, true],
    ['waits', { phase: 'Pending', hasClaim: false }, {}, true],
    ['waits for its first start', { phase: 'PendingPopulation' }, {}, true],
    ['finds no source', { phase: 'CloneScheduled', bound: lost }, {}, true],
    ['met an error on its way', { phase: 'PrepClaimInProgress', running: stuck }, {}, true],
    ['whose phase CDI took back', { phase: '' }, {}, false],
    ['whose claim is being restored from a backup', { phase: 'Pending' }, {}, false],
    [
      'of an image that was created again',
      { phase: 'Pending', hasClaim: false },
      { image: imageAt(1, { uid: 'uid-of-next' }) },
      true,
    ],
    ['of the usable revision', { phase: 'PendingPopulation' }, { image: imageAt(1) }, false],
    ['of the usable revision finds no source', { phase: '', bound: lost }, { image: imageAt(1) }, false],
    ['of the usable revision met an error', { phase: 'CloneInProgress', running: stuck }, { image: imageAt(1) }, false],
    ['while there is no other snapshot', { phase: 'Pending', bound: lost }, { image: unusable }, false],
    ['while there is no image', { phase: 'Pending', bound: lost }, { image: undefined }, false],
    ['is being cloned', { phase: 'CloneInProgress' }, {}, false],
    ['is cloned', { phase: 'Succeeded' }, {}, false],
    ['is cloned, whatever else CDI reports', { phase: 'Succeeded', bound: lost }, {}, false],
    ['was given up', { phase: 'Failed' }, {}, false],
    [
      'under a machine that runs',
      { phase: 'Pending', hasClaim: false },
      { instance: anInstance(aVirtualMachine(), { phase: 'Running' }) },
      false,
    ],
  ])('%s', (_, disk, given, isDeleted) => {
    const found = reconcile({ ...aMadeMachine({}, { disk }), image: imageAt(2), ...given });
    expect(found.writes[0] === 'delete DataVolume').toBe(isDeleted);
    expect(found.conditions.DiskReady === 'False DiskOutdated').toBe(isDeleted);
    if (isDeleted) expect(found.actions[0]).toMatchObject({ unchanged: true, of: { metadata: { name: 'demo-root' } } });
  });
  test.each(['', 'Pending', 'CloneScheduled', 'PendingPopulation'])(
    'was seen cloned once, and stays whatever CDI says of it later (%j)',
    (phase) => {
      const made = aMadeMachine({}, { disk: { phase: 'Succeeded' } });
      const { rootDisk } = reconcile(made).status ?? {};
      expect(rootDisk?.cloned).toBe('uid-of-demo-root');
      const machine = { ...made.machine, status: { ...made.machine.status, rootDisk } };
      const dataVolume = DataVolume.parse({ ...made.dataVolume, status: { phase } });
      const found = reconcile({ ...made, machine, dataVolume, image: imageAt(2) });
      expect(found.writes).toEqual(['patchStatus VirtualMachine']);
      expect(found.status).not.toHaveProperty('rootDisk');
    },
  );
  test('stays while the machine has no status, which says what was seen of it', () => {
    const made = aMadeMachine({}, { disk: { phase: 'PendingPopulation' } });
    const wiped = { ...made.machine, status: undefined };
    expect(reconcile({ ...made, machine: wiped, image: imageAt(2) }).writes).toEqual(['patchStatus VirtualMachine']);
  });
  test('is not deleted twice, and comes back from the snapshot there is', () => {
    const made = aMadeMachine({ spec: { ignoreOnDeploy: true } }, { disk: { phase: 'PendingPopulation' } });
    const first = reconcile({ ...made, image: imageAt(2) });
    const words = first.status?.conditions?.find(({ type }) => type === 'DiskReady')?.message;
    for (const word of ['lab/demo-root', 'revision 1', 'revision 2']) expect(words).toContain(word);
    const machine = written(made.machine, first.status);
    const dataVolume = leaving(made.dataVolume);
    expect(reconcile({ ...made, machine, image: imageAt(2), dataVolume }).actions).toEqual([]);
    const next = reconcile({ ...made, machine, image: imageAt(2), dataVolume: undefined });
    expect(madeIn(next.actions, DataVolume)).toMatchObject({ spec: { source: { snapshot: { name: 'ubuntu-r2' } } } });
    expect(next.status?.rootDisk).toMatchObject({ revision: 2 });
  });
});

describe('a machine of KubeVirt', () => {
  test('that runs makes the machine Ready, with its address and node', () => {
    const made = aMadeMachine({}, { machine: running });
    const instance = anInstance(made.machine, {
      nodeName: 'node-1',
      interfaces: [{ name: 'default', ipAddress: '10.2.0.7' }],
    });
    const found = reconcile({ ...made, instance });
    expect(found.status).toMatchObject({
      phase: 'Ready',
      ipAddress: '10.2.0.7',
      nodeName: 'node-1',
      readyAt: '2026-01-01T00:00:10Z',
    });
    expect(found.conditions).toMatchObject({
      Ready: 'True Running',
      MachineReady: 'True Running',
      DiskReady: 'True Cloned',
    });
    const since = '2026-01-01T00:00:00Z';
    expect(found.actions).toContainEqual(
      expect.objectContaining({ do: 'measure', metric: 'ot.machine.ready.duration', value: 10, since }),
    );
    expect(found.actions).toContainEqual(
      expect.objectContaining({ do: 'publish', type: 'ot.pelotech.virtual-machine.ready.v1' }),
    );
  });
  describe('has the addresses that its instance reports', () => {
    const interfaces = [{ network: 'control-net', ipAddress: '10.10.0.161/24' }, { network: 'edge' }];
    const spec = { interfaces };
    const made = aMadeMachine({ spec }, { machine: { printableStatus: 'Starting' } });
    const look = (given: object) => written(made.machine, reconcile({ ...made, ...given }).status).status ?? {};
    test('none before the guest runs, whatever its spec requests', () => {
      expect(made.machine.status).not.toHaveProperty('addresses');
      expect(made.machine.status).not.toHaveProperty('ipAddress');
      expect(made.machine.status?.fixedAddresses).toEqual([{ network: 'control-net', ipAddress: '10.10.0.161' }]);
      const instance = anInstance(made.machine, { phase: 'Scheduled', interfaces: [{ name: 'control-net' }] });
      expect(look({ instance })).not.toHaveProperty('addresses');
    });
    test('only the MAC addresses if the guest runs no agent', () => {
      const instance = anInstance(made.machine, {
        phase: 'Running',
        interfaces: [{ name: 'control-net', mac: '02:00:00:00:00:01' }],
      });
      expect(look({ instance }).addresses).toEqual([{ network: 'control-net', mac: '02:00:00:00:00:01' }]);
      expect(look({ instance })).not.toHaveProperty('ipAddress');
    });
    test('also if they differ from the requested ones', () => {
      const instance = anInstance(made.machine, {
        phase: 'Running',
        interfaces: [
          { name: 'edge', ipAddress: '10.9.0.7', mac: '02:00:00:00:00:02' },
          { name: 'control-net', ipAddress: '10.10.0.99' },
        ],
      });
      expect(look({ instance })).toMatchObject({
        ipAddress: '10.10.0.99',
        addresses: [
          { network: 'control-net', ipAddress: '10.10.0.99' },
          { network: 'edge', ipAddress: '10.9.0.7', mac: '02:00:00:00:00:02' },
        ],
      });
    });
  });
  test('that runs again is not measured again', () => {
    const made = aMadeMachine({ status: { phase: 'Failed', readyAt: at(1) } }, { machine: running });
    expect(reconcile(made).actions.map(({ do: verb }) => verb)).not.toContain('measure');
  });
  test('that is gone comes back', () => {
    expect(reconcile({ ...aMadeMachine(), kubeVirtMachine: undefined }).writes[0]).toBe('create VirtualMachine');
  });
  test('that goes is waited out', () => {
    const made = aMadeMachine();
    const found = reconcile({ ...made, kubeVirtMachine: leaving(made.kubeVirtMachine) });
    expect(found.conditions.Ready).toBe('False MachineTerminating');
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
  });
  test.each([
    ['Stopped', 'Starting'],
    ['Starting', 'Starting'],
    ['Provisioning', 'Starting'],
    ['WaitingForVolumeBinding', 'Starting'],
    ['Running', 'GuestNotReady'],
    ['Stopping', 'Stopping'],
  ])('%s is on its way: %s', (printableStatus, reason) => {
    const found = reconcile(aMadeMachine({}, { machine: { printableStatus } }));
    expect(found.conditions.MachineReady).toBe(`False ${reason}`);
    expect(found.status?.message ?? '').not.toContain('Failed if');
  });
  const troubles = [
    ['ErrorUnschedulable', 'Unschedulable', 15 * 60],
    ['DataVolumeError', 'DataVolumeError', 5 * 60],
    ['ErrorPvcNotFound', 'ClaimNotFound', 5 * 60],
    ['ErrImagePull', 'ImagePullFailed', 5 * 60],
    ['ImagePullBackOff', 'ImagePullFailed', 5 * 60],
  ] as const;
  test.each(troubles)('%s is trouble, and a failure only when it lasts', (printableStatus, reason, seconds) => {
    const made = aMadeMachine({}, { machine: { printableStatus } });
    const first = reconcile(made);
    expect(first.status).toMatchObject({ trouble: { reason, since: '2026-01-01T00:00:10Z' } });
    expect(first.status?.phase).toBeUndefined();
    const machine = written(made.machine, first.status);
    expect(reconcile({ ...made, machine, nowMs: start + (seconds + 9) * 1000 }).writes).toEqual([]);
    const last = reconcile({ ...made, machine, nowMs: start + (seconds + 10) * 1000 });
    expect(last.status?.phase).toBe('Failed');
    expect(last.warnings).toEqual([reason]);
    const healed = reconcile({
      ...made,
      machine: written(machine, last.status),
      kubeVirtMachine: aKubeVirtMachine(made.kubeVirtMachine, running),
    });
    expect(healed.status).toMatchObject({ phase: 'Ready', trouble: null });
  });
  test('that misses a claim which CDI has yet to make is on its way', () => {
    const disk = { phase: '', hasClaim: false };
    const found = reconcile(aMadeMachine({}, { disk, machine: { printableStatus: 'ErrorPvcNotFound' } }));
    expect(found.conditions).toMatchObject({ MachineReady: 'False Starting', Ready: 'False Cloning' });
  });
  test.each([
    [1, undefined, 'The machine ended as soon as it had started.'],
    [2, undefined, 'The machine ended 2 times in a row as soon as it had started.'],
    [3, 'Failed', 'The machine ended 3 times in a row as soon as it had started.'],
  ])('that ended %d times in a row', (fails, phase, message) => {
    const found = reconcile(aMadeMachine({}, { machine: { printableStatus: 'Starting', fails } }));
    expect(found.status?.phase).toBe(phase);
    expect(found.conditions.Ready).toBe('False CrashLoopBackOff');
    expect(found.status?.message).toContain(message);
  });
});

describe('what KubeVirt cannot do', () => {
  const domain = 'Synchronizing with the Domain failed.';
  const linkMissing = 'failed to configure vmi network: setup failed, err: pod link (pod2de396bbeea) is missing';
  const unsynchronized = (reason: string, message: string, lastTransitionTime?: string) => ({
    type: 'Synchronized',
    status: 'False',
    reason,
    message,
    ...(lastTransitionTime ? { lastTransitionTime } : {}),
  });
  /** A starting machine whose instance has this condition. */
  const started = (condition: ReturnType<typeof unsynchronized>, printableStatus = 'Starting') => {
    const made = aMadeMachine({}, { machine: { printableStatus, conditions: [condition] } });
    return { ...made, instance: anInstance(made.machine, { phase: 'Scheduled', conditions: [condition] }) };
  };

  // Reasons of kubevirt pkg/virt-controller/watch/vmi and pkg/virt-handler/vm.go; the first is from a recording.
  test.each([
    [domain, linkMissing],
    [
      'FailedCreate',
      'failed to create virtual machine pod: pods "virt-launcher-demo" is forbidden: exceeded quota: no',
    ],
    ['FailedCreateValidation', 'failed create validation: spec.networks: no'],
    ['FailedGuaranteeResources', 'failed to guarantee pod resources'],
    ['FailedBackendStorageCreate', 'PVCs are forbidden'],
    ['BackendStorageNotReady', 'PVC pending'],
    ['FailedDataVolumeImport', 'Error determining if volume is ready'],
    ['FailedHotplugSync', 'failed to get attachment pods: timeout'],
    ['FailedPodPatch', 'pods "virt-launcher-demo" is forbidden'],
    ['SomethingNew', 'the words of a KubeVirt to come'],
  ])('is trouble and appears in the message, whatever its reason: %s', (reason, message) => {
    const given = started(unsynchronized(reason, message));
    const first = reconcile(given);
    expect(first.conditions).toMatchObject({ MachineReady: 'False LaunchFailed', Ready: 'False LaunchFailed' });
    const said = `KubeVirt cannot launch the machine: ${message}.`;
    expect(first.status?.message).toBe(`${said} Failed if that lasts 5m; it may recover by itself.`);
    expect(first.warnings).toEqual([]);
    const machine = written(given.machine, first.status);
    const last = reconcile({ ...given, machine, nowMs: start + 310_000 });
    expect(last.status).toMatchObject({ phase: 'Failed', message: said.slice(0, -1) });
    expect(last.warnings).toEqual(['LaunchFailed']);
    const healed = reconcile({
      ...given,
      machine: written(machine, last.status),
      instance: anInstance(machine, { phase: 'Running' }),
      kubeVirtMachine: aKubeVirtMachine(given.kubeVirtMachine, running),
    });
    expect(healed.status).toMatchObject({ phase: 'Ready', trouble: null });
  });
  // KubeVirt's controller of instances sets the condition, and its controller of machines derives printableStatus from it later.
  test.each([
    ['FailedPvcNotFound', 'ClaimNotFound', 'ErrorPvcNotFound'],
    ['ErrImagePull', 'ImagePullFailed', 'ErrImagePull'],
    ['ImagePullBackOff', 'ImagePullFailed', 'ImagePullBackOff'],
  ])('with reason %s is %s before printableStatus says so, in the same words', (condition, reason, printableStatus) => {
    const given = started(unsynchronized(condition, 'no'));
    const early = reconcile(given);
    expect(early.conditions).toMatchObject({ MachineReady: `False ${reason}`, Ready: `False ${reason}` });
    const printed = reconcile(started(unsynchronized(condition, 'no'), printableStatus));
    expect(early.status?.message).toBe(printed.status?.message);
  });
  test('appears on one line', () => {
    const { status } = reconcile(started(unsynchronized(domain, 'virError(Code=1,\n  Message="no")\n')));
    expect(status?.message).toMatch(
      /^KubeVirt cannot launch the machine: virError\(Code=1, Message="no"\)\. Failed if/,
    );
  });
  test('is no cause for the first seconds, and is checked again after them', () => {
    const found = reconcile(started(unsynchronized(domain, linkMissing, at(4))));
    expect(found.conditions.Ready).toBe('False Starting');
    expect(found.status?.message).toBeUndefined();
    expect(found.actions).toContainEqual(expect.objectContaining({ do: 'requeueAfter', afterMs: 4000 }));
    expect(reconcile(started(unsynchronized(domain, linkMissing, at(0)))).conditions.Ready).toBe('False LaunchFailed');
  });
  test('is reported at once if another cause was reported before', () => {
    const given = started(unsynchronized(domain, linkMissing, at(9)));
    const trouble = { reason: 'LaunchFailed', since: at(0) };
    const machine = { ...given.machine, status: { ...given.machine.status, trouble } };
    expect(reconcile({ ...given, machine }).conditions.Ready).toBe('False LaunchFailed');
  });
  test('is reported at once if machineFailedAfter is 0', () => {
    const given = { ...started(unsynchronized(domain, linkMissing, at(9))), policy: { machineFailedAfter: '0s' } };
    expect(reconcile(given).status?.phase).toBe('Failed');
  });
  test('in a condition of the KubeVirt machine counts only if it has no instance: otherwise it is out of date', () => {
    const given = started(unsynchronized(domain, linkMissing));
    expect(reconcile({ ...given, instance: undefined }).conditions.Ready).toBe('False LaunchFailed');
    const healed = anInstance(given.machine, { phase: 'Scheduled' });
    expect(reconcile({ ...given, instance: healed }).conditions.Ready).toBe('False Starting');
  });
  test('is no trouble if it is about a claim that CDI has not created yet', () => {
    const condition = unsynchronized('FailedPvcNotFound', 'PVC lab/demo-root does not exist, waiting for it to appear');
    const made = aMadeMachine({}, { disk: { phase: '', hasClaim: false }, machine: { printableStatus: 'Starting' } });
    const instance = anInstance(made.machine, { phase: 'Pending', conditions: [condition] });
    expect(reconcile({ ...made, instance }).conditions.MachineReady).toBe('False Starting');
  });
  test('does not make a running machine unready, and explains why a guest is not ready', () => {
    const condition = unsynchronized('FailedHotplugSync', 'no such disk');
    const found = reconcile(started(condition, 'Running'));
    expect(found.conditions.Ready).toBe('False GuestNotReady');
    expect(found.status).toMatchObject({
      trouble: { reason: 'GuestNotReady' },
      message: expect.stringMatching(/^The guest runs and is not ready: no such disk\. Failed if/),
    });
    const made = aMadeMachine({}, { machine: running });
    const instance = anInstance(made.machine, { phase: 'Running', conditions: [condition] });
    expect(reconcile({ ...made, instance }).conditions.Ready).toBe('True Running');
  });
  test('explains why a machine ends as soon as it starts', () => {
    const made = aMadeMachine({}, { machine: { printableStatus: 'CrashLoopBackOff', fails: 2 } });
    const conditions = [unsynchronized(domain, 'libvirt: no such disk')];
    const instance = anInstance(made.machine, { phase: 'Failed', conditions });
    expect(reconcile({ ...made, instance }).status?.message).toContain(
      'The machine ended 2 times in a row as soon as it had started: libvirt: no such disk.',
    );
  });
  test.each([
    ['FailedCreate', 'Failure while starting VMI: admission webhook denied the request'],
    ['FailedCreate', 'Error encountered while creating DataVolumes: failed to create DataVolume: no'],
    ['FailedDelete', 'Failure attempting to delete VMI: no'],
    ['FirmwareUUIDError', 'error encountered when trying to patch VM firmware: no'],
  ])('in its condition Failure is trouble and appears in the message: %s, %s', (reason, message) => {
    const conditions = [{ type: 'Failure', status: 'True', reason, message }];
    const found = reconcile(aMadeMachine({}, { machine: { printableStatus: 'Stopped', conditions } }));
    expect(found.conditions.Ready).toBe('False LaunchFailed');
    expect(found.status?.message).toContain(message);
  });
});

describe('a step that does not end', () => {
  const starting = aMadeMachine({}, { machine: { printableStatus: 'Starting' } });
  const cloned = (disk: object, printableStatus = 'Provisioning') =>
    aMadeMachine({}, { disk, machine: { printableStatus } });
  const vmi = 'See kubectl describe vmi demo -n lab';
  type Case = [string, ReturnType<typeof aMadeMachine>, string, string];
  test.each<Case>([
    ['KubeVirt has not started', aMadeMachine({}, { machine: { printableStatus: '' } }), 'Starting', vmi],
    ['is being started', starting, 'Starting', vmi],
    ['waits for its volume', cloned({}, 'WaitingForVolumeBinding'), 'Starting', vmi],
    ['is in a state that KubeVirt does not know', cloned({}, 'Unknown'), 'Starting', vmi],
    ['does not stop', aMadeMachine({}, { machine: { printableStatus: 'Stopping' } }), 'Stopping', vmi],
    ['is not ready', aMadeMachine({}, { machine: { printableStatus: 'Running' } }), 'GuestNotReady', vmi],
    ['is paused before it was ready', aMadeMachine({}, { machine: { printableStatus: 'Paused' } }), 'Starting', vmi],
    [
      'is being deleted',
      { ...starting, kubeVirtMachine: leaving(starting.kubeVirtMachine) },
      'MachineTerminating',
      'See kubectl describe vm.kubevirt.io demo -n lab',
    ],
    [
      'has a disk that CDI has not begun',
      cloned({ phase: '', hasClaim: false }),
      'Cloning',
      'kubectl describe dv demo-root -n lab',
    ],
    [
      'has a disk that waits for its Pod',
      cloned({ phase: 'PendingPopulation' }, 'WaitingForVolumeBinding'),
      'Cloning',
      vmi,
    ],
  ])(
    'of a machine that %s fails it only after machineFailedAfter, and the message says where to look',
    (_, made, reason, where) => {
      const first = reconcile(made);
      expect({ ...made.machine.status, ...first.status }).toMatchObject({ phase: 'Provisioning', trouble: { reason } });
      const machine = written(made.machine, first.status);
      expect(reconcile({ ...made, machine, nowMs: start + 309_000 }).writes).toEqual([]);
      const last = reconcile({ ...made, machine, nowMs: start + 310_000 });
      expect(last.status).toMatchObject({ phase: 'Failed', message: expect.stringContaining(where) });
      expect(last.status?.message).toContain('5m');
      expect(last.warnings).toEqual([reason]);
      expect(last.conditions.Ready).toBe(`False ${reason}`);
    },
  );
  test('has a minute even if machineFailedAfter is shorter', () => {
    const policy = { machineFailedAfter: '0s' };
    expect(reconcile({ ...starting, policy }).status?.phase).toBeUndefined();
    const machine = written(starting.machine, reconcile({ ...starting, policy }).status);
    expect(reconcile({ ...starting, policy, machine, nowMs: start + 70_000 }).status?.phase).toBe('Failed');
  });
  test('is checked again when its time is over', () => {
    expect(reconcile(starting).actions).toContainEqual(
      expect.objectContaining({ do: 'requeueAfter', afterMs: 300_000 }),
    );
  });
  test.each(['CloneInProgress', 'CloneScheduled', 'CloneFromSnapshotSourceInProgress'])(
    'has no limit while CDI copies the disk: %s',
    (phase) => {
      const made = cloned({ phase });
      const machine = written(made.machine, reconcile(made).status);
      expect(reconcile({ ...made, machine, nowMs: start + 3_600_000 }).writes).toEqual([]);
    },
  );
  test('has its own time, but all causes that prevent the start share one', () => {
    const sinceAfter = (reason: string, printableStatus: string) => {
      const made = aMadeMachine({}, { machine: { printableStatus } });
      const trouble = { reason, since: at(-100) };
      const machine = { ...made.machine, status: { ...made.machine.status, trouble } };
      return { ...machine.status, ...reconcile({ ...made, machine }).status }.trouble?.since;
    };
    const before = at(-100);
    const now = '2026-01-01T00:00:10Z';
    expect(sinceAfter('Starting', 'Starting')).toBe(before);
    expect(sinceAfter('LaunchFailed', 'Starting')).toBe(before);
    expect(sinceAfter('Starting', 'ErrImagePull')).toBe(before);
    expect(sinceAfter('Stopping', 'Starting')).toBe(now);
    expect(sinceAfter('Cloning', 'Starting')).toBe(now);
    expect(sinceAfter('Unschedulable', 'Starting')).toBe(now);
    expect(sinceAfter('Starting', 'ErrorUnschedulable')).toBe(now);
  });
});

describe('a network that does not exist', () => {
  const interfaces = [{ network: 'edge' }, { network: 'shared/core' }];
  const without = (...missing: string[]): Parameters<typeof reconcile>[0] => ({
    networks: { isServed: true, missing },
  });
  const words =
    'NetworkAttachmentDefinition shared/core does not exist. Create it or remove the network from the VirtualMachine.';

  test('keeps the machine from being made, is named in the message, and fails the machine if it lasts', () => {
    const machine = aVirtualMachine({ spec: { interfaces } });
    const first = reconcile({ machine, ...without('shared/core') });
    expect(first.writes).toEqual(['patchStatus VirtualMachine']);
    expect(first.conditions).toMatchObject({ Ready: 'False NetworkMissing', DiskReady: 'False NetworkMissing' });
    expect(first.status).toMatchObject({
      phase: 'Provisioning',
      message: `${words} Failed if that lasts 5m; it may recover by itself.`,
    });
    const waiting = aVirtualMachine({ spec: { interfaces }, status: first.status ?? {} });
    const last = reconcile({ machine: waiting, ...without('shared/core'), nowMs: start + 310_000 });
    expect(last.status).toMatchObject({ phase: 'Failed', message: words });
    expect(reconcile({ machine: waiting }).writes).toEqual(all);
  });
  test('is checked again after ten seconds, until the machine is Failed', () => {
    const machine = aVirtualMachine({ spec: { interfaces } });
    const again = expect.objectContaining({ do: 'requeueAfter', afterMs: 10_000 });
    expect(reconcile({ machine, ...without('lab/edge') }).actions).toContainEqual(again);
    expect(
      reconcile({ machine, ...without('lab/edge'), policy: { machineFailedAfter: '0s' } }).actions,
    ).not.toContainEqual(again);
  });
  test('is reported as MultusMissing if Multus is not installed', () => {
    const machine = aVirtualMachine({ spec: { interfaces } });
    const found = reconcile({ machine, networks: { isServed: false, missing: ['lab/edge', 'shared/core'] } });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False MultusMissing');
    expect(found.status?.message).toMatch(
      /^This cluster does not know the kind NetworkAttachmentDefinition\. Install Multus or remove/,
    );
  });
  test('is not added to a running machine, and RestartRequired reports it', () => {
    const made = aMadeMachine({ spec: { interfaces: [{ network: 'edge' }] } }, { machine: running });
    const found = reconcile({ ...changed(made, { interfaces }), ...without('shared/core') });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'True NetworkMissing' });
    expect(found.warnings).toEqual(['NetworkMissing']);
  });
  test('because it was deleted is why a made machine does not start', () => {
    const made = aMadeMachine({ spec: { interfaces } }, { machine: { printableStatus: 'Starting' } });
    const found = reconcile({ ...made, ...without('shared/core') });
    expect(found.conditions).toMatchObject({ Ready: 'False NetworkMissing', MachineReady: 'False NetworkMissing' });
    expect(found.conditions.RestartRequired).toBe('False UpToDate');
    const runs = aMadeMachine({ spec: { interfaces } }, { machine: running });
    expect(reconcile({ ...runs, ...without('shared/core') }).conditions.Ready).toBe('True Running');
  });
  test('does not matter to a machine that is not to be started', () => {
    const machine = aVirtualMachine({ spec: { interfaces, ignoreOnDeploy: true } });
    expect(reconcile({ machine, ...without('shared/core') }).writes).toEqual(all);
  });
});

describe('a network of another namespace', () => {
  const interfaces = [{ network: 'shared/core' }];
  const machine = aVirtualMachine({ spec: { interfaces } });
  test('is refused before it is asked whether it exists', () => {
    const found = reconcile({
      machine,
      policy: { machineNetworks: 'infra' },
      networks: { isServed: false, missing: [] },
    });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.status).toMatchObject({
      phase: 'Failed',
      message: expect.stringContaining('"machineNetworks: infra shared"'),
    });
  });
  test('that the KubeVirt machine has already stays when the policy closes it', () => {
    const made = aMadeMachine({ spec: { interfaces } }, { machine: running });
    expect(reconcile({ ...made, policy: { machineNetworks: 'infra' } }).conditions).toMatchObject({
      Ready: 'True Running',
      RestartRequired: 'False UpToDate',
    });
  });
  test('waits while the policy does not parse', () => {
    const found = reconcile({ machine, policy: { machineNetworks: ',' } });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False InvalidPolicy');
  });
});

describe('ignoreOnDeploy', () => {
  const machine = aVirtualMachine({ spec: { ignoreOnDeploy: true } });
  const strategyOf = (policy: Record<string, string>) =>
    madeIn(reconcile({ machine, policy }).actions, KubeVirtMachine)?.spec as { runStrategy?: string } | undefined;
  test('by the policy makes it halted, starts it, or makes nothing', () => {
    expect(strategyOf({})?.runStrategy).toBe('Halted');
    expect(strategyOf({ ignoreOnDeploy: 'Start' })?.runStrategy).toBe('Always');
    const skipped = reconcile({ machine, policy: { ignoreOnDeploy: 'Skip' } });
    expect(skipped.writes).toEqual(['patchStatus VirtualMachine']);
    expect(skipped).toMatchObject({ status: { phase: 'Provisioning' }, conditions: { Ready: 'False Skipped' } });
  });
  test('a policy that does not say what makes nothing', () => {
    expect(reconcile({ machine, policy: { ignoreOnDeploy: 'Maybe' } }).conditions.Ready).toBe('False InvalidPolicy');
  });
  test.each([
    ['is there', { phase: 'Succeeded' }, 'Ready'],
    ['waits for its first start', { phase: 'PendingPopulation' }, 'Ready'],
    ['is being cloned', { phase: 'CloneScheduled' }, 'Provisioning'],
  ])('a halted machine whose disk %s', (_, disk, phase) => {
    const made = aMadeMachine({ spec: { ignoreOnDeploy: true } }, { disk });
    expect({ ...made.machine.status, ...reconcile(made).status }.phase).toBe(phase);
  });
  test('that is taken back starts the machine; one that is set later stops none', () => {
    const halted = aMadeMachine({ spec: { ignoreOnDeploy: true } });
    expect(madeIn(reconcile(changed(halted, { ignoreOnDeploy: false })).actions, KubeVirtMachine)).toMatchObject({
      spec: { runStrategy: 'Always' },
    });
    const runs = aMadeMachine({}, { machine: running });
    expect(reconcile(changed(runs, { ignoreOnDeploy: true })).writes).toEqual(['patchStatus VirtualMachine']);
  });
  test('a machine that a person stopped stays stopped, and Ready', () => {
    const made = aMadeMachine({}, { machine: { printableStatus: 'Stopped' } });
    const kubeVirtMachine = { ...made.kubeVirtMachine, spec: { ...made.kubeVirtMachine?.spec, runStrategy: 'Halted' } };
    const found = reconcile({ ...made, kubeVirtMachine: kubeVirtMachine as KubeVirtMachine });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('True Halted');
  });
});

describe('halted', () => {
  const runs = aMadeMachine({}, { machine: running });
  const written = (made: ReturnType<typeof aMadeMachine>, spec: object) => {
    const found = madeIn(reconcile(changed(made, spec)).actions, KubeVirtMachine);
    return (found ?? undefined) as KubeVirtMachine | undefined;
  };
  const put = (made: ReturnType<typeof aMadeMachine>, kubeVirtMachine: KubeVirtMachine | undefined) => ({
    ...made,
    kubeVirtMachine: kubeVirtMachine ?? made.kubeVirtMachine,
  });
  const thatRuns = (made: ReturnType<typeof aMadeMachine>, runStrategy: string) =>
    put(made, { ...made.kubeVirtMachine, spec: { ...made.kubeVirtMachine?.spec, runStrategy } } as KubeVirtMachine);
  test.each(['Always', 'RerunOnFailure', 'Manual', 'Halted'])(
    'stops a machine that runs %s, and leaves it as it was when it is taken back',
    (runStrategy) => {
      const before = thatRuns(runs, runStrategy);
      const stopped = put(before, written(before, { halted: true }));
      expect(stopped.kubeVirtMachine?.spec?.runStrategy).toBe('Halted');
      expect(written(stopped, { halted: true })).toBeUndefined();
      const again = put(stopped, written(stopped, {}));
      expect(again.kubeVirtMachine?.spec?.runStrategy).toBe(runStrategy);
      expect(written(again, {})).toBeUndefined();
    },
  );
  test('a machine that a person starts meanwhile is stopped again, and starts afterwards', () => {
    const stopped = put(runs, written(runs, { halted: true }));
    const started = thatRuns(stopped, 'Manual');
    const again = put(started, written(started, { halted: true }));
    expect(again.kubeVirtMachine?.spec?.runStrategy).toBe('Halted');
    expect(written(again, {})?.spec?.runStrategy).toBe('Always');
  });
  test('a machine is judged by how it is to run from now on, not by how it ran until now', () => {
    const stopped = put(runs, written(runs, { halted: true }));
    const shown = { ...stopped.kubeVirtMachine, status: { printableStatus: 'Stopped', ready: false, conditions: [] } };
    const found = reconcile(changed({ ...stopped, kubeVirtMachine: shown as KubeVirtMachine }, { halted: false }));
    expect(found.conditions).toMatchObject({ MachineReady: 'False Starting', Ready: 'False Starting' });
  });
  test('a machine that is made halted starts when it is taken back', () => {
    const made = aMadeMachine({ spec: { halted: true } });
    expect(made.kubeVirtMachine?.spec?.runStrategy).toBe('Halted');
    expect(written(made, { halted: false })?.spec?.runStrategy).toBe('Always');
  });
});

describe('a changed spec', () => {
  test('is carried to the KubeVirt machine, with what others added to it', () => {
    const made = aMadeMachine({}, { machine: running });
    const { kubeVirtMachine } = made;
    const template = kubeVirtMachine?.spec?.template as { spec: { domain: object; volumes: object[] } };
    const spec = {
      ...template.spec,
      domain: { ...template.spec.domain, machine: { type: 'q35' } },
      // A VirtualMachineRestore puts the disk of the backup there (kubevirt, pkg/storage/snapshot/restore.go).
      volumes: [
        { name: 'root', persistentVolumeClaim: { claimName: 'restore-1' } },
        { name: 'cloudinit', cloudInitNoCloud: {} },
        { name: 'plugged' },
      ],
    };
    const grown = { ...kubeVirtMachine, spec: { ...kubeVirtMachine?.spec, template: { ...template, spec } } };
    const found = reconcile({
      ...changed(made, { resources: { cpu: '500m', memory: '4Gi' } }),
      kubeVirtMachine: grown as KubeVirtMachine,
    });
    expect(found.writes[0]).toBe('replace VirtualMachine');
    expect(madeIn(found.actions, KubeVirtMachine)).toMatchObject({
      metadata: { resourceVersion: '20' },
      spec: {
        runStrategy: 'Always',
        template: {
          spec: {
            domain: {
              machine: { type: 'q35' },
              cpu: { cores: 1 },
              memory: { guest: '4Gi' },
              resources: { requests: { cpu: '500m' }, limits: { cpu: '500m' } },
            },
            volumes: [
              { name: 'root', persistentVolumeClaim: { claimName: 'restore-1' } },
              { name: 'cloudinit' },
              { name: 'plugged' },
            ],
          },
        },
      },
    });
  });
  test('that KubeVirt wants a restart for says so, and how', () => {
    const conditions = [{ type: 'RestartRequired', status: 'True' }];
    const found = reconcile(aMadeMachine({}, { machine: { ...running, conditions } }));
    expect(found.conditions.RestartRequired).toBe('True SpecChanged');
    const restart = found.status?.conditions?.find(({ type }) => type === 'RestartRequired');
    expect(restart?.message).toContain('virtctl restart demo -n lab');
  });
  describe('for which the machine is restarted', () => {
    const conditions = [{ type: 'RestartRequired', status: 'True' }];
    const asked = aMadeMachine({}, { machine: { ...running, conditions } });
    const machine = written(asked.machine, reconcile(asked).status);
    const restarting = leaving(machine);
    // KubeVirt removes its condition RestartRequired as soon as a restart begins (pkg/virt-controller/watch/vm/vm.go stopVMI).
    test.each([
      ['stops', 'Stopping', anInstance(restarting, { phase: 'Running' }), 'True Restarting'],
      ['has stopped', 'Stopped', undefined, 'True Restarting'],
      ['is being started', 'Starting', anInstance(machine, { phase: 'Scheduled' }), 'True Restarting'],
      ['fails to start', 'CrashLoopBackOff', anInstance(machine, { phase: 'Failed' }), 'True Restarting'],
      ['runs', 'Running', anInstance(machine, { phase: 'Running' }), 'False UpToDate'],
    ])('is applied only once it runs again: it %s', (_, printableStatus, instance, expected) => {
      const kubeVirtMachine = aKubeVirtMachine(asked.kubeVirtMachine, {
        printableStatus,
        ready: printableStatus === 'Running',
      });
      const found = reconcile({ ...asked, machine, kubeVirtMachine, instance });
      expect(found.conditions.RestartRequired).toBe(expected);
      const again = written(machine, found.status);
      const later = reconcile({ ...asked, machine: again, kubeVirtMachine, instance });
      expect(later.conditions.RestartRequired ?? expected).toBe(expected);
    });
    test('needs no restart if the machine was stopped: the next start uses the new spec', () => {
      const stopped = aKubeVirtMachine(asked.kubeVirtMachine, { printableStatus: 'Stopped' });
      const kubeVirtMachine = { ...stopped, spec: { ...stopped.spec, runStrategy: 'Halted' } };
      expect(reconcile({ ...asked, machine, kubeVirtMachine }).conditions.RestartRequired).toBe('False UpToDate');
    });
  });
  test('of users rewrites the Secret, and says that cloud-init has been there', () => {
    const made = aMadeMachine({}, { machine: running });
    const first = reconcile(changed(made, { users: [{ name: 'new' }] }));
    expect(first.writes).toEqual(['replace Secret', 'patchStatus VirtualMachine']);
    expect(first.conditions.RestartRequired).toBe('True CloudInitChanged');
    const secret = Secret.parse(madeIn(first.actions, Secret));
    const later = { ...changed(made, { users: [{ name: 'new' }] }), secret };
    expect(reconcile(later).conditions.RestartRequired).toBe('True CloudInitChanged');
    const { metadata } = made.dataVolume;
    const dataVolume = { ...made.dataVolume, metadata: { ...metadata, creationTimestamp: at(100) } };
    expect(reconcile({ ...later, dataVolume }).conditions.RestartRequired).toBe('False UpToDate');
  });
  test('whose Secret with the password was taken away leaves cloud-init as it is', () => {
    const users = [{ name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } }];
    const passwords = new Map([['login/password', 'x']]);
    const made = aMadeMachine({ spec: { users } }, { machine: running, passwords });
    const found = reconcile({ ...made, passwords: new Map() });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'False UpToDate' });
  });
  describe('whose Secret with the password was taken away', () => {
    const ops = { name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } };
    const made = () =>
      aMadeMachine({ spec: { users: [ops] } }, { machine: running, passwords: new Map([['login/password', 'x']]) });
    const changedTo = (users: { name: string }[]) => reconcile({ ...changed(made(), { users }), passwords: new Map() });

    test('is carried through with the password that was read', () => {
      const found = changedTo([ops, { name: 'new' }]);
      expect(found.writes).toEqual(['replace Secret', 'patchStatus VirtualMachine']);
      const userdata = textIn(madeIn(found.actions, Secret), 'userdata');
      expect(userdata).toContain('name: "new"');
      expect(userdata).toContain('plain_text_passwd: "x"');
      expect(found.conditions.RestartRequired).toBe('True CloudInitChanged');
    });
    test.each([
      ['another Secret that is missing', [{ ...ops, passwordSecretRef: { name: 'other', key: 'password' } }]],
      ['another user', [{ ...ops, name: 'dev' }]],
      ['another user beside', [ops, { ...ops, name: 'dev' }]],
    ])('and now names %s, is not applied, and the status says so', (_, users) => {
      const found = changedTo(users);
      expect(found.writes).toEqual(['patchStatus VirtualMachine']);
      expect(found.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'True PasswordSecretMissing' });
    });
  });
  test('to a password in the spec and back takes that for none of the Secret', () => {
    const ops = { name: 'ops', passwordSecretRef: { name: 'login', key: 'password' } };
    const passwords = new Map([['login/password', 'x']]);
    const made = aMadeMachine({ spec: { users: [ops] } }, { machine: running, passwords });
    const plain = changed({ ...made, passwords: new Map() }, { users: [{ name: 'ops', plain_text_passwd: 'seen' }] });
    const secret = Secret.parse(madeIn(reconcile(plain).actions, Secret));
    const back = reconcile({ ...changed(plain, { users: [ops] }), secret });
    expect(back.conditions.RestartRequired).toBe('True PasswordSecretMissing');
  });
  test('before the first start says nothing of a restart', () => {
    const made = aMadeMachine({}, { disk: { phase: 'PendingPopulation' }, machine: { printableStatus: 'Starting' } });
    const found = reconcile(changed(made, { users: [{ name: 'new' }] }));
    expect(found.writes[0]).toBe('replace Secret');
    expect(found.conditions.RestartRequired).toBe('False UpToDate');
  });
  test('that cannot be changes nothing of what runs', () => {
    const made = aMadeMachine({}, { machine: running });
    const found = reconcile(changed(made, { users: [{ name: 'a b' }, { name: 'a-b' }] }));
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'True UserNamesCollide' });
    expect(found.warnings).toContain('UserNamesCollide');
  });
});

describe('a disk whose claim is gone', () => {
  const lost = { phase: 'Succeeded', bound: { status: 'False', reason: 'CloneWithoutSource' } };
  test('is reported, though CDI calls it cloned, and what to do', () => {
    const made = aMadeMachine({ spec: { ignoreOnDeploy: true } }, { disk: lost });
    const found = reconcile(made);
    expect(found.conditions).toMatchObject({ DiskReady: 'False ClaimGone', Ready: 'False ClaimGone' });
    expect(found.status?.message).toContain('delete DataVolume lab/demo-root to clone the disk again');
  });
});

describe('what belongs to another owner', () => {
  test('but says that it was made for a machine of this name is not to be deleted: a restored backup', () => {
    const { dataVolume } = aMadeMachine();
    const { ownerReferences: _, ...metadata } = dataVolume.metadata;
    const labels = { ...metadata.labels, 'pelotech.ot/virtual-machine-uid': 'uid-before' };
    const found = reconcile({ dataVolume: DataVolume.parse({ ...dataVolume, metadata: { ...metadata, labels } }) });
    expect(found.conditions.Ready).toBe('False NameTaken');
    expect(found.status?.message).toContain('ownerReferences');
    expect(found.status?.message).toContain('uid-demo');
    expect(found.status?.message).not.toMatch(/delete or rename/);
  });
  const foreign = { apiVersion: 'v1', metadata: { name: 'demo-cloud-init', namespace: 'lab', uid: 'x' } };
  test('under the name of a child stops everything, and heals', () => {
    const found = reconcile({ secret: Secret.parse(foreign) });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions.Ready).toBe('False NameTaken');
    expect(reconcile().writes).toEqual(all);
  });
  test("and was an earlier machine's of that name is waited out", () => {
    const { metadata } = foreign;
    const ownerReferences = [{ apiVersion: 'pelotech.ot/v1alpha1', kind: 'VirtualMachine', name: 'demo', uid: 'old' }];
    const found = reconcile({ secret: Secret.parse({ ...foreign, metadata: { ...metadata, ownerReferences } }) });
    expect(found.status).toMatchObject({ phase: 'Provisioning', message: expect.stringContaining('earlier machine') });
  });
});

describe('what the API server refuses', () => {
  const refused = (resource: { kind: string }, name: string, reason: string, message: string) =>
    new Map([[refusalKey(resource, { namespace: 'lab', name }), { reason, message }]]);
  test('is a failure at once for a machine that was never made', () => {
    const found = reconcile({ refusals: refused(DataVolume, 'demo-root', 'Forbidden', 'exceeded quota') });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found).toMatchObject({ status: { phase: 'Failed' }, conditions: { Ready: 'False Forbidden' } });
  });
  test('is trouble for one that was made before', () => {
    const made = { ...aMadeMachine(), dataVolume: undefined };
    const found = reconcile({ ...made, refusals: refused(DataVolume, 'demo-root', 'Invalid', 'the claim is there') });
    expect(found.status?.trouble?.reason).toBe('Rejected');
  });
  test('of a change stops nothing that runs, and is reported', () => {
    const made = aMadeMachine({}, { machine: running });
    const refusals = refused(KubeVirtMachine, 'demo', 'Invalid', 'spec.template: no');
    const found = reconcile({ ...changed(made, { resources: { cpu: '4', memory: '2Gi' } }), refusals });
    expect(found.writes).toEqual(['patchStatus VirtualMachine']);
    expect(found.conditions).toMatchObject({ Ready: 'True Running', RestartRequired: 'True Rejected' });
  });
  test.each([
    ['Invalid', 'data: hunter2', 'Rejected'],
    ['Forbidden', 'admission webhook "w" denied the request: hunter2 is weak', 'Forbidden'],
  ])('of a Secret is not repeated: %s: %s', (word, message, reason) => {
    const found = reconcile({ refusals: refused(Secret, 'demo-cloud-init', word, message) });
    expect(found.conditions.Ready).toBe(`False ${reason}`);
    expect(JSON.stringify(found.actions)).not.toContain('hunter2');
  });
  test.each([
    'secrets "demo-cloud-init" is forbidden: exceeded quota: small, requested: secrets=1, used: 1, limited: 1',
    'secrets "demo-cloud-init" is forbidden: unable to create new content in namespace lab because it is being terminated',
  ])('of a Secret is repeated where it is about the namespace: %s', (words) => {
    const { status } = reconcile({ refusals: refused(Secret, 'demo-cloud-init', 'Forbidden', words) });
    expect(status?.message).toContain(`Forbidden: ${words}`);
  });
  test('of another namespace is no matter', () => {
    const refusals = new Map([
      [refusalKey(DataVolume, { namespace: 'lab-2', name: 'demo-root' }), { reason: 'Forbidden', message: 'no' }],
    ]);
    expect(reconcile({ refusals }).writes).toEqual(all);
  });
});
