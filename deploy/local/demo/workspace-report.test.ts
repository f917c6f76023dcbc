import { describe, expect, test } from 'vitest';
import { linesOf } from './blocks.ts';
import { slackBytesPerAttempt } from './faults.ts';
import { type PartResult, type WorkspaceResult, workspaceFaults, workspaceReport } from './workspace-report.ts';

const plain = { columns: 80, colour: false };

const part = (more: Partial<PartResult> = {}): PartResult => ({
  kind: 'Volume',
  name: 'data',
  readyAfterSeconds: 2,
  phase: 'Ready',
  message: '',
  ...more,
});

const result = (more: Partial<WorkspaceResult> = {}): WorkspaceResult => ({
  name: 'lab',
  readyAfterSeconds: 3,
  parts: [part()],
  healing: { kind: 'ContainerCluster', name: 'app', deletedAtSeconds: 4, backAfterSeconds: 0.4 },
  deletion: { askedAtSeconds: 5, goneAfterSeconds: 1 },
  image: { name: 'base', bytesDownloaded: 1000, bytesNeeded: 1000 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
  ...more,
});

test('a lab that got Ready, mended itself and went without a trace has no fault', () => {
  expect(workspaceFaults(result())).toEqual([]);
});

test('a part that the policy leaves out need not get Ready', () => {
  expect(workspaceFaults(result({ parts: [part({ readyAfterSeconds: null, phase: 'Skipped' })] }))).toEqual([]);
});

describe('it is a fault that', () => {
  test.each<[string, Partial<WorkspaceResult>, string]>([
    [
      'a part never got Ready',
      { parts: [part({ readyAfterSeconds: null, phase: 'Failed', message: 'No space.' })] },
      'Volume data: expected Ready, found Failed (No space.)',
    ],
    [
      'a part is not in the status at all',
      { parts: [part({ readyAfterSeconds: null, phase: '' })] },
      'Volume data: expected Ready, found none',
    ],
    ['the lab never got Ready', { readyAfterSeconds: null }, 'lab: expected Ready, was never seen so'],
    ['a machine came before its image', { tooEarly: ['vm was made too early'] }, 'vm was made too early'],
    [
      'the image was not downloaded whole',
      { image: { name: 'base', bytesDownloaded: 999, bytesNeeded: 1000 } },
      `base: expected one download (1000 to ${1000 + slackBytesPerAttempt} bytes), found 999 bytes`,
    ],
    [
      'the image was downloaded twice',
      { image: { name: 'base', bytesDownloaded: 2e6, bytesNeeded: 1e6 } },
      `base: expected one download (1000000 to ${1e6 + slackBytesPerAttempt} bytes), found 2000000 bytes`,
    ],
    [
      'something else was downloaded',
      { otherBytesDownloaded: 7 },
      'workspace: expected no other download, found 7 bytes',
    ],
    [
      'what was deleted did not come back',
      { healing: { kind: 'ContainerCluster', name: 'app', deletedAtSeconds: 4, backAfterSeconds: null } },
      'ContainerCluster app: expected to come back when it was deleted, did not',
    ],
    [
      'it never came to the deletion',
      { deletion: { askedAtSeconds: null, goneAfterSeconds: null } },
      'lab: expected to be deleted in the end, did not get there',
    ],
    [
      'it did not go',
      { deletion: { askedAtSeconds: 5, goneAfterSeconds: null } },
      'lab: expected to be gone, did not go in time',
    ],
    [
      'something was left',
      { deletion: { askedAtSeconds: 5, goneAfterSeconds: null }, leftOver: ['Vpc ws-lab'] },
      'left over: expected nothing of lab, found Vpc ws-lab',
    ],
  ])('%s', (_, more, fault) => {
    expect(workspaceFaults(result(more))).toEqual([fault]);
  });
});

const unReady = { kind: 'VirtualMachine', name: 'vm', readyAfterSeconds: null, phase: 'Failed' } as const;

test('the report has a line for each part, and what was done to the lab', () => {
  const parts = [part({ readyAfterSeconds: 2.5 }), part(unReady)];
  expect(linesOf(workspaceReport(result({ parts, readyAfterSeconds: 3.14 })), plain)).toEqual([
    'PART OF THE LAB  NAME  READY AFTER',
    'Volume           data         2.5s',
    'VirtualMachine   vm         Failed',
    '',
    'lab was Ready 3.1s after it was applied. ContainerCluster app was deleted, and',
    'back 0.4s later. lab was deleted, and gone with all that was made for it 1.0s',
    'later.',
  ]);
});

test('what did not come about is not told', () => {
  const early = result({
    readyAfterSeconds: null,
    healing: { ...result().healing, backAfterSeconds: null },
    deletion: { askedAtSeconds: null, goneAfterSeconds: null },
  });
  expect(linesOf(workspaceReport(early), plain)).toHaveLength(2);
});
