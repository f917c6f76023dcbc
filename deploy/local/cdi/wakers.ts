import type { KubernetesObject } from '../../../shared/resources/resource.ts';
import type { CdiContext } from './context.ts';
import { keyOf } from './informer.ts';
import { Claim, claimsOf, DataVolume } from './kinds.ts';
import { controllerOf } from './owner.ts';
import { podsOn } from './volume-controller.ts';
import type { WorkQueue } from './work-queue.ts';

interface Queues {
  dataVolumes: WorkQueue;
  targets: WorkQueue;
  imports: WorkQueue;
  volumes: WorkQueue;
  pods: WorkQueue;
}

/** Says which change has which controller look at which object; `owner` does so for an object's owner by hand. */
export function wakers(context: CdiContext, queues: Queues): { owner(object: KubernetesObject): void } {
  const { dataVolumes, claims, pods, importSources, storageClasses } = context;

  const owner = (object: KubernetesObject) => {
    const controller = controllerOf(object);
    if (!controller) return;
    const ref = { namespace: object.metadata.namespace, name: controller.name };
    if (controller.kind === DataVolume.kind) queues.dataVolumes.add(ref);
    if (controller.kind !== Claim.kind) return;
    queues.targets.add(ref);
    queues.imports.add(ref);
  };
  const claimChanged = (claim: Claim) => {
    const { metadata } = claim;
    for (const queue of [queues.volumes, queues.targets, queues.imports]) queue.add(metadata);
    owner(claim);
    for (const pod of podsOn(context, claim)) queues.pods.add(pod.metadata);
    // A scratch claim that goes makes room for the next pod of the claim beside it.
    const isGone = !claims.objects.has(keyOf(metadata));
    if (isGone) queues.imports.add({ namespace: metadata.namespace, name: metadata.name.replace(/-scratch$/, '') });
  };
  const classChanged = () => {
    for (const { metadata, status } of dataVolumes.objects.values())
      if (status?.phase !== 'Succeeded') queues.dataVolumes.add(metadata);
    for (const claim of claims.objects.values()) if (claim.status?.phase !== 'Bound') claimChanged(claim);
  };

  dataVolumes.onChange(({ metadata }) => {
    queues.dataVolumes.add(metadata);
    queues.volumes.add(metadata);
  });
  storageClasses.onChange(classChanged);
  importSources.onChange((source) => {
    owner(source);
    const { namespace } = source.metadata;
    // The claim has its DataVolume's name.
    queues.targets.add({ namespace, name: controllerOf(source)?.name ?? '' });
  });
  claims.onChange(claimChanged);
  pods.onChange((pod) => {
    queues.pods.add(pod.metadata);
    owner(pod);
    for (const name of claimsOf(pod)) queues.volumes.add({ namespace: pod.metadata.namespace, name });
  });
  return { owner };
}
