import { expect, test } from 'vitest';
import { type ContainerState, Pod } from '../controller/kinds.ts';
import { annotation } from './annotation.ts';
import { mirrorPod } from './pod-mirror.ts';

const aPod = (phase: string, state: ContainerState, restartCount = 0) =>
  Pod.parse({
    metadata: { name: 'importer-prime-1' },
    spec: { containers: [{ name: 'importer' }] },
    status: { phase, containerStatuses: [{ name: 'importer', state, restartCount }] },
  });

const ended = (exitCode: number, reason: string, message: string): ContainerState => ({
  terminated: { exitCode, reason, message },
});

/** What Running says: status, reason, message. */
const runningOf = (annotations: Record<string, string>) => [
  annotations[annotation.running],
  annotations[annotation.runningReason],
  annotations[annotation.runningMessage],
];

test.each([
  ['runs', aPod('Running', { running: {} }), ['true', 'Pod is running', '']],
  [
    'is being created',
    aPod('Pending', { waiting: { reason: 'ContainerCreating' } }),
    ['false', 'ContainerCreating', ''],
  ],
  [
    'misses its secret',
    aPod('Pending', { waiting: { reason: 'CreateContainerConfigError', message: 'secret "s" not found' } }),
    ['false', 'CreateContainerConfigError', 'secret "s" not found'],
  ],
  [
    'has failed',
    aPod('Running', ended(1, 'Error', 'Unable to process data: unexpected EOF')),
    ['false', 'Error', 'Unable to process data: unexpected EOF'],
  ],
  [
    'had too small a disk',
    aPod('Running', ended(1, 'Error', 'virtual image size 2 is larger than the reported available storage 1')),
    ['false', 'Error', 'DataVolume too small to contain image'],
  ],
  [
    'could not pull',
    aPod('Running', ended(1, 'Error', 'failed to pull image: no such host')),
    ['false', 'ImagePullFailed', 'failed to pull image: no such host'],
  ],
  [
    'is done',
    aPod('Succeeded', ended(0, 'Completed', '{"message":"Import Complete"}')),
    ['false', 'Completed', 'Import Complete'],
  ],
  [
    'needs scratch space',
    aPod('Succeeded', ended(0, 'Completed', '{"scratchSpaceRequired":true}')),
    ['false', 'Scratch space required', 'scratch space required and none found'],
  ],
])('an importer that %s', (_, pod, expected) => {
  expect(runningOf(mirrorPod({}, pod).annotations)).toEqual(expected);
});

test('a back-off leaves the last words standing', () => {
  const { annotations } = mirrorPod({}, aPod('Running', { waiting: { reason: 'CrashLoopBackOff' } }, 2));
  expect(runningOf(annotations)).toEqual(['false', undefined, undefined]);
  expect(annotations[annotation.podRestarts]).toBe('2');
});

test('the number of restarts never falls, not even with a new pod', () => {
  const { annotations } = mirrorPod({ [annotation.podRestarts]: '3' }, aPod('Running', { running: {} }, 0));
  expect(annotations[annotation.podRestarts]).toBe('3');
});

test('the end of a pod that is to be replaced says nothing of the import', () => {
  const scratch = mirrorPod({}, aPod('Succeeded', ended(0, 'Completed', '{"scratchSpaceRequired":true}')));
  expect(scratch).toMatchObject({ replace: true, annotations: { [annotation.requiresScratch]: 'true' } });
  expect(scratch.annotations).not.toHaveProperty([annotation.podPhase]);
  const killed = mirrorPod({}, aPod('Running', ended(137, 'OOMKilled', '')));
  expect(killed).toMatchObject({ replace: true, annotations: { [annotation.requiresDirectIo]: 'true' } });
});

test('a wrong checksum is fatal although the container exits with 0', () => {
  const pod = aPod('Succeeded', ended(0, 'Completed', '{"message":"checksum mismatch: expected a, calculated b"}'));
  expect(mirrorPod({}, pod).annotations).toMatchObject({
    [annotation.podPhase]: 'Failed',
    [annotation.fatalError]: 'true',
    [annotation.runningReason]: 'ChecksumError',
  });
});
