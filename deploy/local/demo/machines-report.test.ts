import { describe, expect, test } from 'vitest';
import { linesOf } from './blocks.ts';
import { slackBytesPerAttempt } from './faults.ts';
import { type MachineResult, type MachinesResult, machinesFaults, machinesReport } from './machines-report.ts';

const plain = { waits: false, contradicted: [], isDeleted: false };

const machine = (name: string, more: Partial<MachineResult> = {}): MachineResult => ({
  name,
  image: 'ubuntu',
  expected: plain,
  phase: 'Ready',
  message: 'The machine runs.',
  ipAddress: '10.0.0.1',
  hasWaited: false,
  isGone: false,
  readyAfterSeconds: 1,
  deletedAtSeconds: null,
  warnings: [],
  steps: [],
  ...more,
});

const waiting = (more: Partial<MachineResult> = {}) =>
  machine('web', { image: 'late', expected: { ...plain, waits: true }, hasWaited: true, ...more });

const mismatch = { reason: 'TemplateMismatch', message: 'It differs in url (a, not b), diskSize (1Gi, not 2Gi).' };
const odd = (more: Partial<MachineResult> = {}) =>
  machine('odd', { expected: { ...plain, contradicted: ['url', 'diskSize'] }, warnings: [mismatch], ...more });

const deleted = (name: string, deletedAtSeconds: number, more: Partial<MachineResult> = {}) =>
  machine(name, {
    image: 'held',
    expected: { ...plain, isDeleted: true },
    ipAddress: '',
    isGone: true,
    deletedAtSeconds,
    ...more,
  });

const heldBy = (...by: string[]) => ({ atSeconds: 2, by, message: '' });
const deletion = (more: Partial<MachinesResult['deletion']> = {}): MachinesResult['deletion'] => ({
  image: 'held',
  askedAtSeconds: 1,
  held: [heldBy('lab/a', 'lab/b'), heldBy('lab/b')],
  goneAtSeconds: 6,
  ...more,
});

const good: MachinesResult = {
  machines: [waiting(), odd(), deleted('a', 3), deleted('b', 5)],
  deletion: deletion(),
  made: [{ name: 'late', times: 1, requestedBy: 'web' }],
  late: { name: 'late', bytesDownloaded: 1000, bytesNeeded: 1000 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
};

const judge = (more: Partial<MachinesResult> = {}) => machinesFaults({ ...good, ...more });
const judgeMachine = (found: MachineResult) =>
  judge({ machines: good.machines.map((one) => (one.name === found.name ? found : one)) });

test('there is nothing to say where all is as it should be', () => {
  expect(judge()).toEqual([]);
});

describe('what is said of a machine', () => {
  test.each<[string, MachineResult, string]>([
    [
      'that never was Ready',
      waiting({ readyAfterSeconds: null, phase: 'Failed', message: 'No image.' }),
      'web: expected Ready, found Failed (No image.)',
    ],
    [
      'that nobody looked at',
      waiting({ readyAfterSeconds: null, phase: '', message: '' }),
      'web: expected Ready, found no phase',
    ],
    [
      'that did not wait for its image',
      waiting({ hasWaited: false }),
      'web: expected to be seen waiting for its image, was not',
    ],
    [
      'that failed in the end',
      waiting({ phase: 'Failed', message: 'Crashed.' }),
      'web: expected to stay Ready, found Failed (Crashed.)',
    ],
    ['without an address', waiting({ ipAddress: '' }), 'web: expected an address, found none'],
    ['that went by itself', waiting({ isGone: true }), 'web: expected there, found the contrary'],
    ['that did not go', deleted('b', 5, { isGone: false }), 'b: expected gone, found the contrary'],
    [
      'that was not told of the contradiction',
      odd({ warnings: [] }),
      'odd: expected one Warning, TemplateMismatch, found none',
    ],
    [
      'that was told twice',
      odd({ warnings: [mismatch, mismatch] }),
      'odd: expected one Warning, TemplateMismatch, found TemplateMismatch, TemplateMismatch',
    ],
    [
      'that was told half of it',
      odd({ warnings: [{ ...mismatch, message: 'It differs in url (a, not b).' }] }),
      'odd: expected TemplateMismatch to name diskSize',
    ],
    [
      'that was warned of something',
      waiting({ warnings: [mismatch] }),
      'web: expected no Warning, found TemplateMismatch',
    ],
  ])('%s', (_, found, expected) => {
    expect(judgeMachine(found)).toEqual([expected]);
  });
});

describe('what is said of the images', () => {
  const most = 1000 + slackBytesPerAttempt;
  test.each<[string, Partial<MachinesResult>, string]>([
    ['none made', { made: [] }, 'images made: expected late once, found none'],
    [
      'one made twice',
      { made: [{ name: 'late', times: 2, requestedBy: 'web' }] },
      'images made: expected late once, found late 2 times',
    ],
    [
      'one made for nobody',
      { made: [{ name: 'late', times: 1, requestedBy: '' }] },
      'late: expected the label of one of web, found none',
    ],
    [
      'one downloaded twice',
      { late: { name: 'late', bytesDownloaded: most + 1, bytesNeeded: 1000 } },
      `late: expected one download (1000 to ${most} bytes), found ${most + 1} bytes`,
    ],
    ['another downloaded again', { otherBytesDownloaded: 7 }, 'machines: expected no other download, found 7 bytes'],
    [
      'one that went while it was held',
      { deletion: deletion({ goneAtSeconds: 4 }) },
      'held: expected to stay until its last machine was deleted, went before',
    ],
    [
      'one that stayed for ever',
      { deletion: deletion({ goneAtSeconds: null }) },
      'held: expected to go with its last machine, is there',
    ],
    [
      'one that did not say who held it',
      { deletion: deletion({ held: [heldBy('lab/a', 'lab/b')] }) },
      'held: expected DeletionHeld to name lab/a and lab/b, then lab/b, found lab/a and lab/b',
    ],
  ])('%s', (_, more, expected) => {
    expect(judge(more)).toEqual([expected]);
  });
  test('a disk that was not there and what is left over are said', () => {
    expect(judge({ tooEarly: ['web was Ready while its disk was not there'], leftOver: ['Pod lab/x'] })).toEqual([
      'web was Ready while its disk was not there',
      'left over: expected nothing beside what is in use, found Pod lab/x',
    ]);
  });
});

const late = { image: 'nixos', hasWaited: true, readyAfterSeconds: 3.94 };
const result: MachinesResult = {
  ...good,
  machines: [
    machine('web-1', late),
    machine('web-2', { ...late, phase: 'Provisioning', ipAddress: '', readyAfterSeconds: null }),
    machine('odd-1', {
      readyAfterSeconds: 3.94,
      warnings: [{ reason: 'TemplateMismatch', message: 'It differs in url (a, not b); the image counts.' }],
    }),
    machine('db-1', { image: 'debian', isGone: true, readyAfterSeconds: 3.94 }),
  ],
  deletion: {
    image: 'debian',
    askedAtSeconds: 16,
    held: [{ atSeconds: 16, by: ['lab/db-1'], message: 'Found 1 machine: lab/db-1.' }],
    goneAtSeconds: 17.55,
  },
  made: [{ name: 'nixos', times: 1, requestedBy: 'web-1' }],
};

test('the report of the machines has a line for each, and a sentence for what was special, in the width there is', () => {
  expect(linesOf(machinesReport(result), { columns: 60, colour: false })).toEqual([
    'MACHINE  PHASE         READY AFTER  IMAGE   IP',
    'web-1    Ready                3.9s  nixos   10.0.0.1',
    'web-2    Provisioning            -  nixos',
    'odd-1    Ready                3.9s  ubuntu  10.0.0.1',
    'db-1     Gone                 3.9s  debian  10.0.0.1',
    '',
    'nixos was not there when web-1 and web-2 asked for it: made',
    'once, for web-1.',
    '',
    'odd-1 was told TemplateMismatch: It differs in url (a, not',
    'b); the image counts.',
    '',
    'debian was deleted while in use, and held: Found 1 machine:',
    'lab/db-1. It went 1.6s later, when they had gone.',
  ]);
});

test('an image that is still there is said to be', () => {
  const stays = { ...result, deletion: { ...result.deletion, goneAtSeconds: null } };
  expect(linesOf(machinesReport(stays), { columns: 200, colour: false }).at(-1)).toMatch(/It is still there\.$/);
});
