import type { Job } from '../../../shared/kinds/batch/job.ts';
import type { Pod } from '../../../shared/kinds/core/pod.ts';
import type { Component } from '../../../shared/kinds/pelotech/workspace.ts';
import { owns } from '../../../shared/kubernetes/ownership.ts';
import { type Cause, repeated } from '../../../shared/reasons/reason.ts';
import { type ComponentStatus, component, failed, provisioning, ready } from '../stage.ts';
import { type Outcome, parseOutcome } from './outcome.ts';

/** The status of roles that were begun, by the name of their Job. */
export type Runs = ReadonlyMap<string, Component>;

/** By the own Jobs: whatever comes after, what they are for ran or runs. */
export const runsOf = (jobs: readonly Job[], pods: readonly Pod[]): Runs =>
  new Map(
    jobs
      .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
      .map((job) => {
        const { name } = job.metadata;
        return [name, component('AnsibleRoles', name, statusOfJob(job, newestPodOf(job, pods)))];
      }),
  );

/** What a Job says, and the newest of its Pods: as long as tries are left, a failed Pod is no failed Job. */
export function statusOfJob({ status }: Job, pod: Pod | undefined): ComponentStatus {
  const ended = status?.conditions.find(
    (one) => one.status === 'True' && (one.type === 'Complete' || one.type === 'Failed'),
  );
  if (ended?.type === 'Complete') return ready('RolesDeployed', describeDone(outcomeOf(pod)));
  const found = failureOf(pod);
  if (ended?.reason === 'DeadlineExceeded') {
    return failed('RolesTimedOut', "Expected the roles to end within the policy's ansibleTimeout, found them running.");
  }
  if (ended) return failed(found?.reason ?? 'RolesFailed', found?.message ?? ended.message);
  const tries = status?.failed ?? 0;
  if (tries > 0 && found) return provisioning('RolesRetrying', `Try ${tries} ended: ${found.message}`);
  const blocker = blockerOf(pod);
  return provisioning(blocker?.reason ?? 'RolesRunning', blocker?.message ?? 'The roles are running.');
}

/** Of several Pods of a Job the newest shows how it goes. */
const newestPodOf = (job: Job, pods: readonly Pod[]): Pod | undefined =>
  pods
    .filter((pod) => owns(job, pod))
    .sort((a, b) => Date.parse(b.metadata.creationTimestamp) - Date.parse(a.metadata.creationTimestamp))[0];

const containerOf = (pod: Pod | undefined) => pod?.status?.containerStatuses[0];
const outcomeOf = (pod: Pod | undefined) => parseOutcome(containerOf(pod)?.state?.terminated?.message ?? '');

const describeDone = (outcome: Outcome | undefined) =>
  outcome ? `${outcome.ok} tasks ok, ${outcome.changed} changed something.` : 'All roles are deployed.';

function failureOf(pod: Pod | undefined): Cause | undefined {
  const ended = containerOf(pod)?.state?.terminated;
  // Evicted or lost with its node it has no container that ended.
  if (!ended)
    return pod?.status?.reason ? { reason: repeated(pod.status.reason), message: pod.status.message ?? '' } : undefined;
  if (ended.exitCode === 0) return undefined;
  const outcome = parseOutcome(ended.message);
  if (outcome && outcome.unreachable > 0 && outcome.stranger) {
    return {
      reason: 'HostKeyUnknown',
      message:
        'Expected the ssh host key that the workspace gave the machine, found another: its disk was first started before, its image has no cloud-init, or another machine answers at its address.',
    };
  }
  if (outcome && outcome.unreachable > 0) {
    return { reason: 'MachineUnreachable', message: 'Ansible cannot reach the machine, or cannot log in to it.' };
  }
  if (outcome && outcome.failed > 0) {
    const task = outcome.role ? `a task of role ${outcome.role}` : 'a task before the first role';
    return { reason: 'RoleFailed', message: `Expected all tasks to work, found that ${task} failed.` };
  }
  return { reason: ended.reason === 'OOMKilled' ? 'OOMKilled' : 'RolesFailed', message: lastLine(ended.message) };
}

const lastLine = (text: string) => text.trim().split('\n').at(-1)?.slice(0, 300) || 'The runner said nothing.';

/** Why a Pod has not begun: no node for it, an image that cannot be pulled. */
function blockerOf(pod: Pod | undefined): Cause | undefined {
  const waiting = containerOf(pod)?.state?.waiting;
  if (waiting && waiting.reason !== 'ContainerCreating' && waiting.reason !== 'PodInitializing')
    return { ...waiting, reason: repeated(waiting.reason) };
  const scheduled = pod?.status?.conditions.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? { ...scheduled, reason: repeated(scheduled.reason) } : undefined;
}
