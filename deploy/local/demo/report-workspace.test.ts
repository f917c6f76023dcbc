import { expect, test } from 'vitest';
import { workspaceReport } from './report-workspace.ts';
import type { WorkspaceResult } from './result.ts';

const result: WorkspaceResult = {
  name: 'lab',
  readyAfterSeconds: 3.14,
  parts: [
    { kind: 'Network', name: 'control-net', readyAfterSeconds: 2.5, phase: 'Ready', message: '' },
    { kind: 'VirtualMachine', name: 'vm', readyAfterSeconds: null, phase: 'Failed', message: 'No node.' },
  ],
  healing: { kind: 'ContainerCluster', name: 'app', deletedAtSeconds: 4, backAfterSeconds: 0.42 },
  deletion: { askedAtSeconds: 5, goneAfterSeconds: 1.2 },
  image: { name: 'base', bytesDownloaded: 1, bytesNeeded: 1 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
};

test('the report has a line for each part, and what was done to the lab', () => {
  expect(workspaceReport(result, { columns: 80, colour: false })).toEqual([
    'PART OF THE LAB  NAME         READY AFTER',
    'Network          control-net         2.5s',
    'VirtualMachine   vm                Failed',
    '',
    'lab was Ready 3.1s after it was applied. ContainerCluster app was deleted, and',
    'back 0.4s later. lab was deleted, and gone with all that was made for it 1.2s',
    'later.',
  ]);
});

test('what did not come about is not told', () => {
  const early: WorkspaceResult = {
    ...result,
    readyAfterSeconds: null,
    healing: { ...result.healing, backAfterSeconds: null },
    deletion: { askedAtSeconds: null, goneAfterSeconds: null },
  };
  expect(workspaceReport(early, { columns: 80, colour: false })).toHaveLength(3);
});
