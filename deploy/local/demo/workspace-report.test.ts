import { expect, test } from 'vitest';
import { linesOf } from './blocks.ts';
import { slackBytesPerAttempt } from './faults.ts';
import { aPart, aWorkspace } from './samples.ts';
import { type WorkspaceResult, workspaceFaults, workspaceReport, workspaceTotal } from './workspace-report.ts';

const plain = { columns: 80, colour: false };

test('a workspace that got Ready, mended itself and went without a trace has no fault', () => {
  expect(workspaceFaults(aWorkspace())).toEqual([]);
});

test('a part that the policy leaves out need not get Ready, and is counted as Skipped', () => {
  const parts = [aPart(), aPart({ readyAfterSeconds: null, phase: 'Skipped' })];
  expect(workspaceFaults(aWorkspace({ parts }))).toEqual([]);
  expect(workspaceTotal(aWorkspace({ parts }))).toBe('a lab of 1 parts Ready, 1 Skipped');
});

const unReady = { readyAfterSeconds: null, phase: 'Failed', message: 'No space.' } as const;
const healing = { ...aWorkspace().healing, backAfterSeconds: null };
const deletion = { askedAtSeconds: 5, goneAfterSeconds: null };
const downloaded = (bytesDownloaded: number) => ({ image: { ...aWorkspace().image, bytesDownloaded } });
const wanted = `base: expected one download (1000 to ${1000 + slackBytesPerAttempt} bytes)`;
test.each<[string, Partial<WorkspaceResult>]>([
  ['Volume data: expected Ready, found Failed (No space.)', { parts: [aPart(unReady)] }],
  ['Volume data: expected Ready, found none', { parts: [aPart({ readyAfterSeconds: null, phase: '' })] }],
  ['lab: expected Ready, was never seen so', { readyAfterSeconds: null }],
  ['vm was made too early', { tooEarly: ['vm was made too early'] }],
  [`${wanted}, found 999 bytes`, downloaded(999)],
  [`${wanted}, found 2000000 bytes`, downloaded(2e6)],
  ['workspace: expected no other download, found 7 bytes', { otherBytesDownloaded: 7 }],
  ['ContainerCluster app: expected to come back when it was deleted, did not', { healing }],
  ['lab: expected to be deleted in the end, did not get there', { deletion: { ...deletion, askedAtSeconds: null } }],
  ['lab: expected to be gone, did not go in time', { deletion }],
  ['left over: expected nothing of lab, found Vpc ws-lab', { deletion, leftOver: ['Vpc ws-lab'] }],
])('it is a fault: %s', (fault, more) => {
  expect(workspaceFaults(aWorkspace(more))).toEqual([fault]);
});

test('the report has a line for each part, and what was done to the workspace', () => {
  const parts = [aPart({ readyAfterSeconds: 2.5 }), aPart({ ...unReady, kind: 'VirtualMachine', name: 'vm' })];
  expect(linesOf(workspaceReport(aWorkspace({ parts, readyAfterSeconds: 3.14 })), plain)).toEqual([
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
  const early = aWorkspace({
    readyAfterSeconds: null,
    healing,
    deletion: { ...deletion, askedAtSeconds: null },
  });
  expect(linesOf(workspaceReport(early), plain)).toHaveLength(2);
});
