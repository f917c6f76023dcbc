import { type KubernetesObject, keyOf, referenceIn } from '../../../shared/kinds/resource.ts';
import { Claim, claimsOf, DataVolume } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import type { WorkQueue } from '../controller/work-queue.ts';
import { annotation } from './annotation.ts';
import { snapshotOf } from './clone-source.ts';
import type { CdiContext } from './context.ts';
import { podsOn } from './volume-controller.ts';

interface Queues {
  dataVolumes: WorkQueue;
  targets: WorkQueue;
  imports: WorkQueue;
  volumes: WorkQueue;
  pods: WorkQueue;
}

/** Adds the objects that each change concerns to the queues of their controllers; `owner` adds the owner of an object. */
export function addEventHandlers(context: CdiContext, queues: Queues): { owner(object: KubernetesObject): void } {
  const { dataVolumes, claims, pods, importSources, cloneSources, snapshots, storageClasses } = context;

  const owner = (object: KubernetesObject) => {
    const controller = controllerOf(object);
    if (!controller) return;
    const ref = { namespace: object.metadata.namespace, name: controller.name };
    if (controller.kind === DataVolume.kind) queues.dataVolumes.add(ref);
    if (controller.kind !== Claim.kind) return;
    queues.targets.add(ref);
    queues.imports.add(ref);
  };
  /** The claim that a clone fills by way of this one. */
  const target = (claim: Claim | undefined) => {
    const ref = claim?.metadata.annotations?.[annotation.eventSource];
    if (ref !== undefined) queues.targets.add(referenceIn(ref));
  };
  const claimChanged = (claim: Claim) => {
    const { metadata } = claim;
    for (const queue of [queues.volumes, queues.targets, queues.imports]) queue.add(metadata);
    owner(claim);
    target(claim);
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
  cloneSources.onChange((source) => {
    owner(source);
    const { namespace, annotations } = source.metadata;
    const elsewhere = annotations?.[annotation.ownedByDataVolume];
    const ref =
      elsewhere === undefined ? { namespace, name: controllerOf(source)?.name ?? '' } : referenceIn(elsewhere);
    queues.dataVolumes.add(ref);
    queues.targets.add(ref);
  });
  snapshots.onChange(({ metadata: { namespace, name } }) => {
    for (const dataVolume of dataVolumes.objects.values()) {
      const source = snapshotOf(dataVolume);
      if (!dataVolume.spec.source?.snapshot || source.namespace !== namespace || source.name !== name) continue;
      queues.dataVolumes.add(dataVolume.metadata);
      queues.targets.add(dataVolume.metadata);
    }
  });
  claims.onChange(claimChanged);
  pods.onChange((pod) => {
    queues.pods.add(pod.metadata);
    owner(pod);
    for (const name of claimsOf(pod)) {
      const ref = { namespace: pod.metadata.namespace, name };
      queues.volumes.add(ref);
      target(claims.find(ref));
    }
  });
  return { owner };
}
