import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Block, linesOf } from './blocks.ts';
import { type ImagesView, imagesFrame } from './images-report.ts';
import { type MachinesView, machinesFrame } from './machines-report.ts';
import { anImage } from './samples.ts';
import { type WorkspaceView, workspaceFrame } from './workspace-report.ts';

const plain = { columns: 80, colour: false };

const image = (name: string, more: Partial<ImagesView['images'][number]> = {}) => ({
  ...anImage({ name, phase: 'Queued', attempts: 0 }),
  remark: 'place 1 in the queue',
  ...more,
});

const imagesView: ImagesView = {
  slots: [{ name: 'debian-12', attempt: 2, downloadedBytes: 1_500_000, neededBytes: 3_000_000 }, undefined],
  images: [
    image('debian-12', { phase: 'Syncing', attempts: 2, remark: 'attempt 2' }),
    image('ubuntu-24.04', { phase: 'Succeeded', attempts: 1, remark: 'ready to clone' }),
    image('centos-6'),
  ],
};

test('the display of the images shows the counts, a bar for each slot, and a line for each image', () => {
  expect(linesOf(imagesFrame(imagesView, 6300), plain)).toEqual([
    '6.3s  1 queued, 1 syncing, 1 succeeded',
    '',
    'slot 1  debian-12     ████████████████░░░░░░░░░░░░░░░  50% of 3.0 MB, attempt 2',
    'slot 2  free',
    '',
    'IMAGE         PHASE      ATTEMPTS  WAITED',
    'debian-12     Syncing           2    1.2s  attempt 2',
    'ubuntu-24.04  Succeeded         1    1.2s  ready to clone',
    'centos-6      Queued                 1.2s  place 1 in the queue',
  ]);
});

const everyPhase: ImagesView = {
  slots: [
    { name: 'windows-2022', attempt: 1, downloadedBytes: 99_900_000, neededBytes: 99_900_000 },
    { name: 'opnsense-24', attempt: 3, downloadedBytes: 0, neededBytes: 0 },
  ],
  images: (['', 'Queued', 'Syncing', 'Snapshotting', 'Retrying', 'Succeeded', 'Failed'] as const).map((phase) =>
    image(`image-${phase}`, {
      phase,
      attempts: 3,
      remark: 'Unable to process data: unexpected EOF. Next attempt at 10:45:20 UTC.',
    }),
  ),
};

test('the display of the images reports all of its counts in 80 columns', () => {
  expect(linesOf(imagesFrame(everyPhase, 59_900), plain)[0]).toMatch(/1 failed$/);
});

test('the display of the images has no bar for an object that is missing', () => {
  const slot = { name: 'centos-6', attempt: 1, downloadedBytes: 0, neededBytes: 0 };
  expect(linesOf(imagesFrame({ ...imagesView, slots: [slot] }, 6300), plain)[2]).not.toContain('%');
});

const machinesView: MachinesView = {
  images: [
    { name: 'nixos-25.05', phase: undefined, references: undefined, remark: '' },
    { name: 'debian-12', phase: 'Terminating', references: 1, remark: 'found 1 machine: lab/db-2.' },
  ],
  machines: [
    { name: 'web-1', phase: 'Provisioning', image: 'nixos-25.05', ipAddress: '', remark: 'Waiting for its image.' },
    { name: 'odd-1', phase: 'Ready', image: 'debian-12', ipAddress: '10.0.0.1', remark: 'The machine runs.' },
    { name: 'db-1', phase: 'Gone', image: 'debian-12', ipAddress: '', remark: '' },
    { name: 'db-2', phase: '', image: 'debian-12', ipAddress: '', remark: 'applied' },
  ],
};

test('the display of the machines shows the counts, the images with their references, and a line for each machine', () => {
  expect(linesOf(machinesFrame(machinesView, 16_300), plain)).toEqual([
    '16.3s  2 provisioning, 1 ready, 1 deleted',
    '',
    'IMAGE        PHASE        REFS',
    'nixos-25.05  not there',
    'debian-12    Terminating     1  found 1 machine: lab/db-2.',
    '',
    'MACHINE  PHASE         IMAGE        IP',
    'web-1    Provisioning  nixos-25.05            Waiting for its image.',
    'odd-1    Ready         debian-12    10.0.0.1  The machine runs.',
    'db-1     Gone          debian-12',
    'db-2     New           debian-12              applied',
  ]);
});

const workspaceView: WorkspaceView = {
  name: 'lab',
  phase: 'Provisioning',
  ready: '1/2',
  remark: 'VirtualMachine vm: Waiting for VMDiskImage base.',
  parts: [
    { kind: 'Network', name: 'control-net', phase: 'Ready', reason: 'Ready', message: 'It is there.' },
    { kind: 'VirtualMachine', name: 'vm', phase: 'Waiting', reason: 'ImageNotReady', message: 'Waiting for base.' },
  ],
};

test('the display of the workspace shows how much of it is ready, what it waits for, and a line for each part', () => {
  expect(linesOf(workspaceFrame(workspaceView, 21_300), plain)).toEqual([
    '21.3s  lab  Provisioning  ██████████░░░░░░░░░░ 1/2',
    'VirtualMachine vm: Waiting for VMDiskImage base.',
    '',
    'PART            NAME         PHASE',
    'Network         control-net  Ready    It is there.',
    'VirtualMachine  vm           Waiting  Waiting for base.',
  ]);
});

test('before a function has looked at it, and when it is gone, there are no parts to count', () => {
  const empty = { ...workspaceView, ready: '', remark: 'applied', parts: [] };
  expect(linesOf(workspaceFrame({ ...empty, phase: '' }, 21_300), plain)[0]).toBe('21.3s  lab  New');
  expect(linesOf(workspaceFrame({ ...empty, phase: 'Gone' }, 21_300), plain)[0]).toBe('21.3s  lab  Gone');
});

const remark = 'Waiting. '.repeat(20);
const chatty = { ...machinesView, machines: machinesView.machines.map((machine) => ({ ...machine, remark })) };
const displays: readonly [string, Block[], Block[]][] = [
  ['images', imagesFrame(imagesView, 6300), imagesFrame(everyPhase, 59_900)],
  ['machines', machinesFrame(machinesView, 16_300), machinesFrame(chatty, 16_300)],
  ['workspace', workspaceFrame(workspaceView, 21_300), workspaceFrame({ ...workspaceView, remark }, 21_300)],
];

describe.each(displays)('the display of the %s', (_, blocks, long) => {
  test.each([40, 60, 80, 200])('fits %s columns', (columns) => {
    for (const line of linesOf(long, { columns, colour: false })) expect([...line].length).toBeLessThanOrEqual(columns);
  });
  test('has the same words in colour', () => {
    const coloured = linesOf(blocks, { columns: 80, colour: true });
    expect(coloured.join()).toContain('\u001b[');
    expect(coloured.map((line) => stripVTControlCharacters(line).trimEnd())).toEqual(linesOf(blocks, plain));
  });
});
