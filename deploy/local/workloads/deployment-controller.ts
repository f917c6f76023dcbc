import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { isControlledBy } from '../controller/owner.ts';
import { performStep } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import type { WorkloadContext } from './context.ts';
import { nextForDeployment, type ObservedDeployment } from './deployment-step.ts';
import { conditionOf, type Deployment } from './kinds.ts';

export async function reconcileDeployment(context: WorkloadContext, ref: ObjectReference): Promise<Again> {
  const deployment = context.deployments.find(ref);
  if (!deployment) return undefined;
  return performStep(context, nextForDeployment(observe(context, deployment)));
}

function observe(context: WorkloadContext, deployment: Deployment): ObservedDeployment {
  const { clock, timings, times, replicaSets, pods } = context;
  const { uid } = deployment.metadata;
  const { updatedReplicas, readyReplicas, availableReplicas, replicas } = deployment.status ?? {};
  const { reason, lastUpdateTime } = conditionOf(deployment, 'Progressing') ?? {};
  // Whatever is progress is in here, so that the time starts again with it; the times of conditions have whole seconds only.
  const state = [reason, lastUpdateTime, replicas, updatedReplicas, readyReplicas, availableReplicas].join();
  return {
    deployment,
    replicaSets: [...replicaSets.objects.values()].filter((each) => isControlledBy(each, deployment)),
    podsOf: (replicaSet) => [...pods.objects.values()].filter((pod) => isControlledBy(pod, replicaSet)),
    stalledMs: times.msIn(`${uid} progress`, state),
    deadlineMs: deployment.spec.progressDeadlineSeconds * 1000 * timings.secondsScale,
    nowMs: clock.now(),
  };
}
