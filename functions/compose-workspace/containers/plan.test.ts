import { describe, expect, test } from 'vitest';
import { Deployment } from '../../../shared/kinds/apps/deployment.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { workspaceChild } from '../../../shared/workspaces/workspace.ts';
import { at, start } from '../../../test/support/builders/images.ts';
import { aClusterOf, aWorkspace } from '../../../test/support/builders/workspaces.ts';
import { makeFor } from '../child.ts';
import { nothingInside } from '../observed.ts';
import { containerStage } from './plan.ts';

const cluster = aClusterOf();
const lab = (before?: 'True' | 'False', sinceSecond = -3600) =>
  aWorkspace({
    spec: { containerClusters: [cluster] },
    status: {
      conditions: before
        ? [{ type: 'ContainersReady', status: before, reason: 'R', message: '', lastTransitionTime: at(sinceSecond) }]
        : [],
    },
  });
const up = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
const overdue = { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' };

const aPod = (status: object, metadata: object = {}) =>
  Pod.parse({
    metadata: {
      name: 'app-1',
      namespace: 'ws-lab',
      creationTimestamp: at(-3600),
      labels: { 'pelotech.ot/container-cluster': 'app' },
      ...metadata,
    },
    status,
  });
const lastState = { terminated: { exitCode: 137, reason: 'OOMKilled', finishedAt: at(-20) } };
/** A Pod whose container started again so often, and runs since that second. */
const restarted = (times: number, sinceSecond: number, metadata: object = {}) => {
  const state = { running: { startedAt: at(sinceSecond) } };
  return aPod({ containerStatuses: [{ name: 'app', restartCount: times, state, lastState }] }, metadata);
};
const backingOff = (metadata: object = {}) => {
  const state = { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s restarting failed container' } };
  return aPod({ containerStatuses: [{ name: 'app', restartCount: 3, state, lastState }] }, metadata);
};

function componentStatus(status: object, pods: Pod[], workspace = lab(), data: Record<string, string> = {}) {
  const metadata = workspaceChild(workspace, { namespace: 'ws-lab', name: 'app' });
  const deployments = [Deployment.parse({ metadata, status })];
  const found = { ...nothingInside, workspace, policy: parsePolicy({ data }), nowMs: start, deployments, pods };
  const make = makeFor({ workspace, roleBinding: undefined, refusals: new Map(), nowMs: start });
  return containerStage({ ...found, provider: 'bridge', isHibernating: false }, make).components[0];
}

describe('containers that start again', () => {
  test('are not up until they have run for as long as they may take to come up', () => {
    expect(componentStatus(up, [restarted(2, -10)], lab('True'))).toMatchObject({
      phase: 'Provisioning',
      reason: 'CrashLoopBackOff',
      message: expect.stringMatching(
        /restarted 2 times.*exit code 137 \(OOMKilled\).*kubectl logs app-1 -c app -n ws-lab/,
      ),
    });
    expect(componentStatus(up, [restarted(2, -301)], lab('True'))).toMatchObject({ phase: 'Ready' });
    expect(componentStatus(up, [restarted(2, -10)], lab('True'), { machineFailedAfter: '5s' })).toMatchObject({
      phase: 'Ready',
    });
  });
  test('that ran for long before have not failed because they ended once', () => {
    expect(componentStatus(up, [restarted(1, -10)], lab('False', -15))).toMatchObject({ phase: 'Provisioning' });
  });
  test.each([
    ['while they wait', {}, backingOff()],
    ['while they run', up, restarted(3, -3)],
  ])('have failed once that has gone on for long, for one reason: %s', (_, status, pod) => {
    expect(componentStatus(status, [pod], lab('False', -301))).toMatchObject({
      phase: 'Failed',
      reason: 'CrashLoopBackOff',
    });
    expect(componentStatus({ ...status, conditions: [overdue] }, [pod], lab('False', -60))).toMatchObject({
      phase: 'Failed',
      reason: 'CrashLoopBackOff',
    });
  });
  test.each([
    ['while they wait', {}, backingOff({ creationTimestamp: at(-60) })],
    ['while they run', up, restarted(3, -3, { creationTimestamp: at(-60) })],
  ])('of a Pod that is new have not failed: %s', (_, status, pod) => {
    expect(componentStatus(status, [pod], lab('False', -3600))).toMatchObject({
      phase: 'Provisioning',
      reason: 'CrashLoopBackOff',
    });
  });
  test.each([
    ['goes', restarted(3, -3, { deletionTimestamp: at(-1) })],
    ['was evicted', aPod({ ...restarted(3, -3).status, phase: 'Failed', reason: 'Evicted' })],
  ])('are of no account in a Pod that %s', (_, pod) => {
    expect(componentStatus(up, [pod], lab('True'))).toMatchObject({ phase: 'Ready' });
  });
});

test.each(['ErrImagePull', 'ImagePullBackOff'])('%s is one trouble, told once', (reason) => {
  const pod = aPod({ containerStatuses: [{ name: 'app', state: { waiting: { reason, message: 'no such image' } } }] });
  expect(componentStatus({ conditions: [overdue] }, [pod])).toMatchObject({
    phase: 'Failed',
    reason: 'ImagePullBackOff',
    message: expect.stringContaining('no such image'),
  });
});

describe('a Pod that cannot be made', () => {
  const refused = (sinceSecond: number) => ({
    type: 'ReplicaFailure',
    status: 'True',
    reason: 'FailedCreate',
    message: 'serviceaccount "default" not found',
    lastTransitionTime: at(sinceSecond),
  });
  test.each([
    ['is waited for at first', [refused(-10)], 'Provisioning'],
    ['has failed where Kubernetes gives up', [refused(-10), overdue], 'Failed'],
    ['has failed where that lasts, of which Kubernetes says nothing later on', [refused(-301)], 'Failed'],
  ])('%s', (_, conditions, phase) => {
    expect(componentStatus({ conditions }, [])).toMatchObject({
      phase,
      reason: 'FailedCreate',
      message: expect.stringContaining('serviceaccount "default" not found'),
    });
  });
});

test.each([
  ['a Pod', [aPod({ containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] })], 'pod app-1'],
  ['no Pod', [], 'deployment app'],
])('%s that did not come up in time is named, with how to find out why', (_, pods, named) => {
  expect(componentStatus({ conditions: [overdue] }, pods)).toMatchObject({
    phase: 'Failed',
    reason: 'ProgressDeadlineExceeded',
    message: expect.stringContaining(`kubectl describe ${named} -n ws-lab`),
  });
});
