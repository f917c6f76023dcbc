import { expect, test } from 'vitest';
import { Job } from '../../../shared/kinds/batch/job.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { parseOutcome } from './outcome.ts';
import { statusOfJob } from './status.ts';

const job = (status: object = { active: 1 }) => Job.parse({ metadata: { name: 'j' }, status });
const ended = (type: string, reason = '', message = '') =>
  job({ failed: 3, conditions: [{ type, status: 'True', reason, message }] });
const pod = (status: object) => Pod.parse({ metadata: { name: 'p' }, status });
const terminated = (exitCode: number, message = '', reason = 'Error') =>
  pod({ containerStatuses: [{ state: { terminated: { exitCode, reason, message } } }] });
const failed = ended('Failed', 'BackoffLimitExceeded', 'Job has reached the specified backoff limit');
const says = (outcome: object) => terminated(2, JSON.stringify(outcome));

test.each([
  ['running', job(), undefined, 'Provisioning', 'RolesRunning', 'The roles are running.'],
  ['done', ended('Complete'), undefined, 'Ready', 'RolesDeployed', 'All roles are deployed.'],
  [
    'done, with counts',
    ended('Complete'),
    terminated(0, '{"ok":7,"changed":2,"failed":0,"unreachable":0}', 'Completed'),
    'Ready',
    'RolesDeployed',
    '7 tasks ok, 2 changed something.',
  ],
  [
    'a role that failed',
    failed,
    says({ ok: 3, changed: 0, failed: 1, unreachable: 0, role: 'linuxRouter' }),
    'Failed',
    'RoleFailed',
    'Expected all tasks to work, found that a task of role linuxRouter failed.',
  ],
  [
    'no role that failed',
    failed,
    says({ failed: 1 }),
    'Failed',
    'RoleFailed',
    'Expected all tasks to work, found that a task before the first role failed.',
  ],
  [
    'a machine that refuses the login',
    failed,
    says({ unreachable: 1 }),
    'Failed',
    'MachineUnreachable',
    'Ansible cannot reach the machine, or cannot log in to it.',
  ],
  [
    'an image that writes no JSON',
    failed,
    terminated(4, 'PLAY [x]\nERROR! the role runtimeChecks was not found\n'),
    'Failed',
    'RolesFailed',
    'ERROR! the role runtimeChecks was not found',
  ],
  ['an image that says nothing', failed, terminated(1), 'Failed', 'RolesFailed', 'The runner said nothing.'],
  ['too little memory', failed, terminated(137, '', 'OOMKilled'), 'Failed', 'OOMKilled', 'The runner said nothing.'],
  [
    'a Pod that was evicted',
    failed,
    pod({ phase: 'Failed', reason: 'Evicted', message: 'The node was low on memory.' }),
    'Failed',
    'Evicted',
    'The node was low on memory.',
  ],
  ['no Pod any more', failed, undefined, 'Failed', 'RolesFailed', 'Job has reached the specified backoff limit'],
  [
    'too long',
    ended('Failed', 'DeadlineExceeded'),
    undefined,
    'Failed',
    'RolesTimedOut',
    "Expected the roles to end within the policy's ansibleTimeout, found them running.",
  ],
  [
    'a try that failed',
    job({ active: 0, failed: 1 }),
    says({ failed: 1, role: 'x' }),
    'Provisioning',
    'RolesRetrying',
    'Try 1 ended: Expected all tasks to work, found that a task of role x failed.',
  ],
  [
    'an image that is not there',
    job(),
    pod({ containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'Back-off pulling' } } }] }),
    'Provisioning',
    'ImagePullBackOff',
    'Back-off pulling',
  ],
  [
    'no node',
    job(),
    pod({ conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' }] }),
    'Provisioning',
    'Unschedulable',
    '0/1 nodes',
  ],
  [
    'a container that is made',
    job(),
    pod({ containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }] }),
    'Provisioning',
    'RolesRunning',
    'The roles are running.',
  ],
  [
    'a machine with another host key',
    failed,
    says({ failed: 0, unreachable: 1, stranger: true }),
    'Failed',
    'HostKeyUnknown',
    'Expected the ssh host key that the workspace gave the machine, found another: its disk was first started before, its image has no cloud-init, or another machine answers at its address.',
  ],
] as const)('%s', (_, found, of, phase, reason, message) => {
  expect(statusOfJob(found, of)).toEqual({ phase, reason, message });
});

test.each(['', 'null', '7', '[]', '{', 'no JSON', '{"ok":'])('%j is no outcome', (text) => {
  expect(parseOutcome(text)).toBeUndefined();
});
test('an outcome with garbage in it counts none of that', () => {
  expect(parseOutcome(' {"ok": "many", "failed": 1, "role": 7} ')).toEqual({
    ok: 0,
    changed: 0,
    failed: 1,
    unreachable: 0,
    role: undefined,
  });
});
