import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../test/support/builders/machines.ts';
import { aKupenStackMachine, aVirtualNetwork, aVolume } from '../../test/support/builders/openstack.ts';
import { aMachineOf, aWorkspace } from '../../test/support/builders/workspaces.ts';
import { progressOf } from './progress.ts';
import { codeOf, stateOf, stateOfPhase } from './state.ts';
import { type Found, nothing, treeLines, treeOf } from './status-tree.ts';

const look = { columns: Number.POSITIVE_INFINITY, colour: false };
const linesOf = (found: Partial<Found>) => {
  const all: Found = { ...nothing, known: found.images ?? [], ...found };
  return treeLines(treeOf(all), start + 90_000, look, all);
};
const isReady = { type: 'Ready', status: 'True', reason: 'Any', message: '', lastTransitionTime: at(0) } as const;
const missing = aVMDiskImage({ name: 'missing', status: { phase: 'Failed', message: 'Not tried again:\n\t404.' } });
const ubuntu = aVMDiskImage({ status: { phase: 'Succeeded', message: 'Ready to clone.' } });

test('Failed objects come first, of whatever kind, their cause above the table; Ready objects have no message', () => {
  const machine = aVirtualMachine({ status: { phase: 'Ready', message: 'It runs.' } });
  expect(linesOf({ machines: [machine], images: [ubuntu, missing] })).toEqual([
    '1 Failed, 2 Ready. First cause: VMDiskImage vmdi-farm/missing: Not tried again: 404.',
    '',
    'NAME                             PHASE      AGE  CAUSE',
    'VMDiskImage vmdi-farm/missing    Failed     90s  Not tried again: 404.',
    'VirtualMachine lab/demo          Ready      90s',
    '└─ VMDiskImage vmdi-farm/ubuntu  Succeeded  90s',
  ]);
});

test('of unrelated failures the first is that which failed first, whatever it is called', () => {
  const failed = (name: string, seconds: number) =>
    aVMDiskImage({
      name,
      status: {
        phase: 'Failed',
        message: `It is ${name}.`,
        conditions: [{ ...isReady, type: 'Stalled', lastTransitionTime: at(seconds) }],
      },
    });
  const [summary] = linesOf({ images: [failed('a', 30), failed('b', 10), failed('c', 20)] });
  expect(summary).toBe('3 Failed. First cause: VMDiskImage vmdi-farm/b: It is b.');
});

test('a machine that waits for its image shows the cause of the image', () => {
  const image = aVMDiskImage({ status: { phase: 'Retrying', message: 'Cut off.' } });
  const machine = aVirtualMachine({ status: { phase: 'Provisioning', message: 'Waiting for its image.' } });
  expect(linesOf({ machines: [machine], known: [image] })[0]).toBe(
    '1 under way. First cause: VMDiskImage vmdi-farm/ubuntu: Cut off.',
  );
});

test('a cause is written once: in the row that it comes from', () => {
  const why = 'Retrying: Cut off. Next attempt at 00:06 UTC.';
  const image = aVMDiskImage({ status: { phase: 'Retrying', message: 'Cut off. Next attempt at 00:06 UTC.' } });
  const machines = ['a', 'b'].map((name) =>
    aVirtualMachine({
      name,
      status: { phase: 'Provisioning', message: `Waiting for VMDiskImage vmdi-farm/ubuntu: ${why}` },
    }),
  );
  const broken = aVirtualMachine({ name: 'c', status: { phase: 'Failed', message: `${why} And more.` } });
  expect(linesOf({ machines: [...machines, broken], images: [image] }).slice(3)).toEqual([
    'VirtualMachine lab/c             Failed        90s  Retrying: Cut off. Next attempt at 00:06 UTC. And more.',
    '└─ VMDiskImage vmdi-farm/ubuntu  Retrying      90s  Cut off. Next attempt at 00:06 UTC.',
    'VirtualMachine lab/a             Provisioning  90s  same cause as VMDiskImage vmdi-farm/ubuntu',
    '└─ VMDiskImage vmdi-farm/ubuntu  Retrying      90s  as above',
    'VirtualMachine lab/b             Provisioning  90s  same cause as VMDiskImage vmdi-farm/ubuntu',
    '└─ VMDiskImage vmdi-farm/ubuntu  Retrying      90s  as above',
  ]);
});

test('an image that is being deleted reports what uses it, and no longer its old message', () => {
  const message = 'Expected no machine to use an image that is deleted, found 1 machine: lab/demo.';
  const held = { ...isReady, type: 'DeletionHeld', message };
  const status = { phase: 'Succeeded', message: 'Ready to clone.' } as const;
  const causeOf = (conditions: (typeof held)[]) =>
    treeOf({ ...nothing, images: [aVMDiskImage({ deleted: true, status: { ...status, conditions } })] })[0]?.cause;
  expect(causeOf([held])).toBe(message);
  expect(causeOf([])).toBe('It is being deleted.');
});

test('a pause is reported above the table, and is the cause of images in the queue', () => {
  const stopped = { why: 'the queue is paused (concurrency 0)', command: 'ot-functions resume' };
  const image = aVMDiskImage({ status: { phase: 'Queued', message: 'Waiting for a free slot.' } });
  const machine = aVirtualMachine({ status: { phase: 'Provisioning', message: 'Waiting for its image.' } });
  const says = 'Nothing starts: the queue is paused (concurrency 0).';
  expect(linesOf({ machines: [machine], known: [image], stopped }).slice(0, 3)).toEqual([
    `1 under way. First cause: VMDiskImage vmdi-farm/ubuntu: Waiting for a free slot. ${says}`,
    'What would help: ot-functions resume',
    '',
  ]);
  const knows = aVMDiskImage({ status: { phase: 'Queued', message: `Waiting: ${stopped.why}.` } });
  expect(linesOf({ machines: [machine], known: [knows], stopped })[0]).toMatch(/ubuntu: Waiting: [^:]*$/);
  expect(linesOf({ images: [ubuntu], stopped })[0]).toContain(says);
  expect(linesOf({ stopped })[1]).toContain(says);
});

test('a workspace shows its components below it, the image of a machine below the machine, and its machines nowhere else', () => {
  const component = (kind: 'VMDiskImage' | 'VirtualMachine' | 'Volume', name: string, phase: 'Ready' | 'Failed') =>
    ({ kind, name, phase, reason: 'Any', message: `${name} is ${phase}.` }) as const;
  const workspace = aWorkspace({
    spec: { vms: [aMachineOf()] },
    status: {
      phase: 'Failed',
      message: 'VirtualMachine vm: vm is Failed.',
      namespace: 'ws-lab',
      images: [{ name: 'ubuntu', namespace: 'vmdi-farm' }],
      components: [
        component('VMDiskImage', 'ubuntu', 'Ready'),
        component('Volume', 'data', 'Ready'),
        component('VirtualMachine', 'vm', 'Failed'),
      ],
    },
  });
  const machine = aVirtualMachine({ name: 'vm', namespace: 'ws-lab', status: { phase: 'Failed' } });
  const lines = linesOf({ workspaces: [workspace], machines: [machine], known: [ubuntu] });
  expect(lines.slice(3)).toEqual([
    'Workspace lab                       Failed     90s  same cause as VirtualMachine vm',
    '├─ VirtualMachine vm                Failed     90s  vm is Failed.',
    '│  └─ VMDiskImage vmdi-farm/ubuntu  Succeeded  90s',
    '└─ Volume data                      Ready',
  ]);
});

test('a component that is left out says why', () => {
  const message = 'Deploy roles are not run: the policy names no ansibleRunnerImage.';
  const roles = { kind: 'AnsibleRoles', name: 'vm', phase: 'Skipped', reason: 'NoRunnerImage', message } as const;
  const workspace = aWorkspace({ status: { phase: 'Ready', namespace: 'ws-lab', components: [roles] } });
  expect(linesOf({ workspaces: [workspace] }).at(-1)).toBe(`└─ AnsibleRoles vm  Skipped       ${message}`);
});

test('a machine on OpenStack shows its networks and volumes below it, and their cause; it is under way until it matches its spec', () => {
  const disk = aVolume({ status: { phase: 'Failed', message: 'No space.' } });
  const elsewhere = aVolume({ namespace: 'other', status: { phase: 'Failed', message: 'Not his.' } });
  const net = aVirtualNetwork({ status: { phase: 'Available', conditions: [isReady] } });
  const server = aKupenStackMachine({
    spec: { virtualNetworks: ['net'] },
    status: { phase: 'Running', message: 'Waiting: volume disk is Failed.' },
  });
  const found = { servers: [server], parts: [disk, elsewhere, net] };
  expect(treeOf({ ...nothing, ...found })).toMatchObject([{ state: 'under way', children: [{ state: 'Ready' }, {}] }]);
  expect(linesOf(found)).toEqual([
    '1 under way. First cause: Volume.kupenstack.io lab/disk: No space.',
    '',
    'NAME                                     PHASE      AGE  CAUSE',
    'VirtualMachine.kupenstack.io lab/demo    Running    90s  Waiting: volume disk is Failed.',
    '├─ VirtualNetwork.kupenstack.io lab/net  Available  90s',
    '└─ Volume.kupenstack.io lab/disk         Failed     90s  No space.',
  ]);
});

test('an empty cluster is reported in words, and colours appear only if they are wanted', () => {
  expect(linesOf({})).toEqual(['There are no workspaces, machines or images here.']);
  expect(treeLines([], start, look, { namespace: 'lab' })[0]).toMatch(
    /in namespace lab; -A looks in all namespaces\.$/,
  );
  expect(treeLines([], start, look, { namespace: 'lab', sought: 'images' })[0]).toMatch(/^There are no images in /);
  const nodes = treeOf({ ...nothing, images: [missing] });
  const text = (colour: boolean) => treeLines(nodes, Date.parse(at(1)), { ...look, colour }, {}).join('');
  expect(text(true)).toContain('\u001b[31mFailed');
  expect(text(false)).not.toContain('\u001b');
});

test('a hibernated workspace is neither under way nor Ready, and says how to wake it', () => {
  const workspace = aWorkspace({ status: { phase: 'Hibernated', message: 'To wake it: kubectl.', components: [] } });
  expect(linesOf({ workspaces: [workspace], images: [ubuntu] })).toEqual([
    'NAME                          PHASE       AGE  CAUSE',
    'Workspace lab                 Hibernated  90s  To wake it: kubectl.',
    'VMDiskImage vmdi-farm/ubuntu  Succeeded   90s',
  ]);
  const under = aVMDiskImage({ status: { phase: 'Syncing', message: 'Downloading.' } });
  expect(linesOf({ workspaces: [workspace], images: [under] })[0]).toMatch(
    /^1 under way, 1 Hibernated\. First cause: VMD/,
  );
  expect(codeOf([stateOf(workspace), 'Ready'])).toBe(0);
  // Who waits until it is Ready goes on waiting.
  expect(progressOf(workspace).end).toBeUndefined();
});

test('the exit code says whether everything is Ready, something Failed, or neither', () => {
  expect(codeOf((['Ready', 'Succeeded', 'Skipped'] as const).map(stateOfPhase))).toBe(0);
  expect(codeOf((['Ready', 'Failed', 'Syncing'] as const).map(stateOfPhase))).toBe(1);
  expect(codeOf((['Ready', 'Syncing'] as const).map(stateOfPhase))).toBe(5);
  expect(codeOf([])).toBe(0);
});
