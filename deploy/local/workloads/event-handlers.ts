import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { claimsOf } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import type { WorkQueue } from '../controller/work-queue.ts';
import type { WorkloadContext } from './context.ts';
import { jobOf } from './job-controller.ts';
import type { Pod } from './kinds.ts';
import { isOurs } from './pod-controller.ts';
import { isSimulated } from './simulated.ts';

interface Queues {
  deployments: WorkQueue;
  replicaSets: WorkQueue;
  jobs: WorkQueue;
  pods: WorkQueue;
}

/** Adds the objects that each change concerns to the queues of their controllers. */
export function addEventHandlers(context: WorkloadContext, queues: Queues): void {
  const { deployments, replicaSets, jobs, pods, claims, networks, times } = context;
  const inPlay = (listener: (metadata: ObjectReference) => void) => (object: { metadata: ObjectReference }) => {
    if (isSimulated(object.metadata.namespace)) listener(object.metadata);
  };
  const addPods = (isIt: (pod: Pod) => boolean) => {
    for (const pod of pods.objects.values()) if (isOurs(pod) && isIt(pod)) queues.pods.add(pod.metadata);
  };

  deployments.onChange(inPlay(queues.deployments.add));
  replicaSets.onChange((replicaSet) => {
    const { namespace } = replicaSet.metadata;
    if (!isSimulated(namespace)) return;
    queues.replicaSets.add(replicaSet.metadata);
    const owner = controllerOf(replicaSet);
    if (owner?.kind === 'Deployment') queues.deployments.add({ namespace, name: owner.name });
  });
  jobs.onChange(inPlay(queues.jobs.add));
  pods.onChange((pod) => {
    const { namespace, uid } = pod.metadata;
    if (!isSimulated(namespace)) return;
    const owner = controllerOf(pod);
    const job = jobOf(pod);
    if (job !== undefined) queues.jobs.add({ namespace, name: job });
    if (owner?.kind === 'ReplicaSet') {
      queues.replicaSets.add({ namespace, name: owner.name });
      const grandOwner = replicaSets.find({ namespace, name: owner.name });
      const deployment = grandOwner && controllerOf(grandOwner);
      if (deployment) queues.deployments.add({ namespace, name: deployment.name });
    }
    if (!isOurs(pod)) return;
    queues.pods.add(pod.metadata);
    if (pods.objects.has(keyOf(pod.metadata))) return;
    times.forget(uid);
    // Its ports are free now.
    addPods(({ spec }) => spec.nodeName === undefined);
  });
  claims.onChange(({ metadata: { namespace, name } }) =>
    addPods((pod) => pod.metadata.namespace === namespace && claimsOf(pod).includes(name)),
  );
  networks.onChange(({ metadata: { namespace } }) => addPods((pod) => pod.metadata.namespace === namespace));
}
