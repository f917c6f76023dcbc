import { expect, test } from 'vitest';
import { machinesReport } from './report-machines.ts';
import type { MachineResult, MachinesResult } from './result.ts';

const machine = (name: string, more: Partial<MachineResult> = {}): MachineResult => ({
  name,
  image: 'nixos',
  expected: { waits: true, contradicted: [], isDeleted: false },
  phase: 'Ready',
  message: '',
  ipAddress: '10.0.0.1',
  hasWaited: true,
  isGone: false,
  readyAfterSeconds: 3.94,
  deletedAtSeconds: null,
  warnings: [],
  steps: [],
  ...more,
});

const result: MachinesResult = {
  machines: [
    machine('web-1'),
    machine('web-2', { phase: 'Provisioning', ipAddress: '', readyAfterSeconds: null }),
    machine('odd-1', {
      image: 'ubuntu',
      hasWaited: false,
      warnings: [{ reason: 'TemplateMismatch', message: 'It differs in url (a, not b); the image counts.' }],
    }),
    machine('db-1', { image: 'debian', hasWaited: false, isGone: true }),
  ],
  deletion: {
    image: 'debian',
    askedAtSeconds: 16,
    held: [{ atSeconds: 16, by: ['lab/db-1'], message: 'Found 1 machine: lab/db-1.' }],
    goneAtSeconds: 17.55,
  },
  made: [{ name: 'nixos', times: 1, requestedBy: 'web-1' }],
  late: { name: 'nixos', bytesDownloaded: 0, bytesNeeded: 0 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
};

test('the report of the machines has a line for each, and a sentence for what was special, in the width there is', () => {
  expect(machinesReport(result, { columns: 60, colour: false })).toEqual([
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
  expect(machinesReport(stays, { columns: 200, colour: false }).at(-1)).toMatch(/It is still there\.$/);
});
