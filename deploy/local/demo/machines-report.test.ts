import { expect, test } from 'vitest';
import { linesOf } from './blocks.ts';
import { slackBytesPerAttempt } from './faults.ts';
import { type MachineResult, type MachinesResult, machinesFaults, machinesReport } from './machines-report.ts';
import { aMachine, machines, plainly } from './samples.ts';

const waiting = (more: Partial<MachineResult> = {}) =>
  aMachine('web', { image: 'late', expected: { ...plainly, waits: true }, hasWaited: true, ...more });

const mismatch = { reason: 'TemplateMismatch', message: 'It differs in url (a, not b), diskSize (1Gi, not 2Gi).' };
const odd = (more: Partial<MachineResult> = {}) =>
  aMachine('odd', { expected: { ...plainly, contradicted: ['url', 'diskSize'] }, warnings: [mismatch], ...more });

const deleted = (name: string, deletedAtSeconds: number, more: Partial<MachineResult> = {}) =>
  aMachine(name, {
    image: 'held',
    expected: { ...plainly, isDeleted: true },
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

const good = machines({ machines: [waiting(), odd(), deleted('a', 3), deleted('b', 5)], deletion: deletion() });

const judge = (more: Partial<MachinesResult> = {}) => machinesFaults({ ...good, ...more });
const judgeMachine = (found: MachineResult) =>
  judge({ machines: good.machines.map((one) => (one.name === found.name ? found : one)) });

test('there is nothing to say where all is as it should be', () => {
  expect(judge()).toEqual([]);
});

const never = { readyAfterSeconds: null, phase: 'Failed', message: 'No image.' };
test.each<[string, MachineResult]>([
  ['web: expected Ready, found Failed (No image.)', waiting(never)],
  ['web: expected Ready, found no phase', waiting({ ...never, phase: '', message: '' })],
  ['web: expected to be seen waiting for its image, was not', waiting({ hasWaited: false })],
  ['web: expected to stay Ready, found Failed (Crashed.)', waiting({ phase: 'Failed', message: 'Crashed.' })],
  ['web: expected an address, found none', waiting({ ipAddress: '' })],
  ['web: expected there, found the contrary', waiting({ isGone: true })],
  ['b: expected gone, found the contrary', deleted('b', 5, { isGone: false })],
  ['odd: expected one Warning, TemplateMismatch, found none', odd({ warnings: [] })],
  [
    'odd: expected one Warning, TemplateMismatch, found TemplateMismatch, TemplateMismatch',
    odd({ warnings: [mismatch, mismatch] }),
  ],
  [
    'odd: expected TemplateMismatch to name diskSize',
    odd({ warnings: [{ ...mismatch, message: 'It differs in url (a, not b).' }] }),
  ],
  ['web: expected no Warning, found TemplateMismatch', waiting({ warnings: [mismatch] })],
])('it is a fault of a machine: %s', (fault, found) => {
  expect(judgeMachine(found)).toEqual([fault]);
});

const most = 1000 + slackBytesPerAttempt;
const made = (times: number, requestedBy = 'web') => ({ made: [{ name: 'late', times, requestedBy }] });
test.each<[string, Partial<MachinesResult>]>([
  ['images made: expected late once, found none', { made: [] }],
  ['images made: expected late once, found late 2 times', made(2)],
  ['late: expected the label of one of web, found none', made(1, '')],
  [
    `late: expected one download (1000 to ${most} bytes), found ${most + 1} bytes`,
    { late: { ...good.late, bytesDownloaded: most + 1 } },
  ],
  ['machines: expected no other download, found 7 bytes', { otherBytesDownloaded: 7 }],
  [
    'held: expected to stay until its last machine was deleted, went before',
    { deletion: deletion({ goneAtSeconds: 4 }) },
  ],
  ['held: expected to go with its last machine, is there', { deletion: deletion({ goneAtSeconds: null }) }],
  [
    'held: expected DeletionHeld to name lab/a and lab/b, then lab/b, found lab/a and lab/b',
    { deletion: deletion({ held: [heldBy('lab/a', 'lab/b')] }) },
  ],
  ['web was Ready while its disk was not there', { tooEarly: ['web was Ready while its disk was not there'] }],
  ['left over: expected nothing beside what is in use, found Pod lab/x', { leftOver: ['Pod lab/x'] }],
])('it is a fault of the act: %s', (fault, more) => {
  expect(judge(more)).toEqual([fault]);
});

const late = { image: 'nixos', hasWaited: true, readyAfterSeconds: 3.94 };
const result: MachinesResult = {
  ...good,
  machines: [
    aMachine('web-1', late),
    aMachine('web-2', { ...late, phase: 'Provisioning', ipAddress: '', readyAfterSeconds: null }),
    aMachine('odd-1', {
      readyAfterSeconds: 3.94,
      warnings: [{ reason: 'TemplateMismatch', message: 'It differs in url (a, not b); the image counts.' }],
    }),
    aMachine('db-1', { image: 'debian', isGone: true, readyAfterSeconds: 3.94 }),
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

test('an image that still exists is reported', () => {
  const stays = { ...result, deletion: { ...result.deletion, goneAtSeconds: null } };
  expect(linesOf(machinesReport(stays), { columns: 200, colour: false }).at(-1)).toMatch(/It is still there\.$/);
});
