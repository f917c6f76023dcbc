import type { Pod } from '../../../shared/kinds/core/pod.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { type Cause, repeated } from '../../../shared/reasons/reason.ts';

type Container = NonNullable<Pod['status']>['containerStatuses'][number];

/** The kubelet's reasons for a container that is starting normally. */
const isOnItsWay = new Set(['ContainerCreating', 'PodInitializing']);

/** The kubelet's reason for a container that it restarts ever more rarely, because it keeps ending. */
const crashLoopBackOff = 'CrashLoopBackOff';

/** The kubelet alternates between two reasons for one trouble; this one is reported. */
const lasting: Readonly<Record<string, string>> = { ErrImagePull: 'ImagePullBackOff' };

/** A Pod that is deleted, evicted or lost with its node is replaced by another. */
export const isCurrent = ({ metadata, status }: Pod) =>
  metadata.deletionTimestamp === undefined && status?.phase !== 'Failed' && status?.phase !== 'Succeeded';

/** What keeps Pods from running, in the words of the scheduler or the kubelet; undefined if nothing is known. */
export function podTrouble(pods: readonly Pod[]): Cause | undefined {
  for (const { metadata, status } of pods.filter(isCurrent)) {
    const scheduled = conditionOf(status?.conditions, 'PodScheduled');
    if (scheduled?.status === 'False') {
      return {
        reason: 'FailedScheduling',
        message: `Pod ${metadata.name} has no node: ${scheduled.message || scheduled.reason}`,
      };
    }
    for (const container of status?.containerStatuses ?? []) {
      const { name, state } = container;
      const { waiting } = state ?? {};
      if (!waiting?.reason || isOnItsWay.has(waiting.reason)) continue;
      const before = describeExit(container, 'It ended');
      return {
        reason: repeated(lasting[waiting.reason] ?? waiting.reason),
        message:
          `Container ${name} of Pod ${metadata.name} waits: ${waiting.message || waiting.reason}.${before}`.replace(
            '..',
            '.',
          ),
      };
    }
  }
  return undefined;
}

/**
 * The first Pod with a container that keeps ending. Between two ends it does not count as running: it does once it has run for
 * as long as a container may take to start.
 */
export function crashing(
  pods: readonly Pod[],
  { nowMs, steadyMs }: { nowMs: number; steadyMs: number },
): { pod: Pod; trouble: Cause } | undefined {
  const isSteady = ({ state }: Container) => nowMs - startedMs(state) >= steadyMs;
  for (const pod of pods.filter(isCurrent)) {
    const container = pod.status?.containerStatuses.find((one) => hasEnded(one) && !isSteady(one));
    if (container) return { pod, trouble: describeCrash(pod, container) };
  }
  return undefined;
}

const hasEnded = ({ restartCount, state }: Container) =>
  restartCount > 0 && [undefined, '', crashLoopBackOff].includes(state?.waiting?.reason);

/** NaN unless it runs. */
const startedMs = (state: Container['state']) => Date.parse(state?.running?.startedAt ?? '');

function describeCrash({ metadata: { name: pod, namespace } }: Pod, container: Container): Cause {
  const { name, restartCount } = container;
  const often = restartCount === 1 ? 'once' : `${restartCount} times`;
  const message = `Container ${name} of Pod ${pod} was restarted ${often}.${describeExit(container, 'It last ended')} See kubectl logs ${pod} -c ${name} -n ${namespace} --previous.`;
  return { reason: crashLoopBackOff, message };
}

/** " It ended with exit code 1 (Error)." */
function describeExit({ state, lastState }: Container, ended: string): string {
  const exit = state?.terminated ?? lastState?.terminated;
  return exit ? ` ${ended} with exit code ${exit.exitCode}${exit.reason ? ` (${exit.reason})` : ''}.` : '';
}
