import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { claimsOf } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import type { WorkQueue } from '../controller/work-queue.ts';
import type { KubevirtContext } from './context.ts';
import { claimNameOf, type InstanceSpec, VirtualMachineInstance } from './kinds.ts';

interface Queues {
  machines: WorkQueue;
  instances: WorkQueue;
  launchers: WorkQueue;
}

/** Adds the objects that each change concerns to the queues of their controllers. */
export function addEventHandlers(context: KubevirtContext, { machines, instances, launchers }: Queues): void {
  const uses = ({ volumes = [] }: InstanceSpec, name: string) => volumes.some((volume) => claimNameOf(volume) === name);

  /** A claim has the name of the DataVolume that fills it. */
  const diskChanged = ({ metadata: { namespace, name } }: { metadata: ObjectReference }) => {
    for (const { metadata, spec } of context.machines.objects.values())
      if (metadata.namespace === namespace && uses(spec.template.spec, name)) machines.add(metadata);
    for (const { metadata, spec } of context.instances.objects.values())
      if (metadata.namespace === namespace && uses(spec, name)) instances.add(metadata);
    for (const pod of context.pods.objects.values())
      if (pod.metadata.namespace === namespace && claimsOf(pod).includes(name)) launchers.add(pod.metadata);
  };

  context.machines.onChange(({ metadata }) => {
    machines.add(metadata);
    instances.add(metadata);
  });
  context.instances.onChange((instance) => {
    machines.add(instance.metadata);
    instances.add(instance.metadata);
    for (const pod of context.pods.objects.values())
      if (controllerOf(pod)?.uid === instance.metadata.uid) launchers.add(pod.metadata);
  });
  context.pods.onChange((pod) => {
    launchers.add(pod.metadata);
    const owner = controllerOf(pod);
    if (owner?.kind === VirtualMachineInstance.kind)
      instances.add({ namespace: pod.metadata.namespace, name: owner.name });
  });
  context.dataVolumes.onChange(diskChanged);
  context.claims.onChange(diskChanged);
  context.networks.onChange(() => {
    for (const { metadata } of context.pods.objects.values()) launchers.add(metadata);
  });
}
