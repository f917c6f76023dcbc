import { randomBytes } from 'node:crypto';
import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { Secret } from '../controller/kinds.ts';
import { isControlledBy } from '../controller/owner.ts';
import { performStep, soonest } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import type { KubevirtContext } from './context.ts';
import { hasAgent } from './guest.ts';
import { nextForInstance, type ObservedInstance } from './instance-step.ts';
import { claimNameOf, isFinal, phaseOf, type VirtualMachineInstance } from './kinds.ts';
import { isTemporary } from './launcher-pod.ts';
import { isUnheard } from './launcher-status.ts';

/** Simulates virt-controller and virt-handler for one instance: one reconcile of it. */
export async function reconcileInstance(context: KubevirtContext, ref: ObjectReference): Promise<Again> {
  const instance = context.instances.find(ref);
  if (!instance) return undefined;
  const { observed, waitMs: faultMs } = await observe(context, instance);
  const { writes, waitMs } = nextForInstance(observed);
  return performStep(context, { writes, waitMs: soonest(waitMs, faultMs) });
}

async function observe(context: KubevirtContext, instance: VirtualMachineInstance) {
  const { clock, timings, machines, times } = context;
  const { namespace, name, uid } = instance.metadata;
  const pods = [...context.pods.objects.values()].filter((pod) => isControlledBy(pod, instance));
  const pod = pods.find((one) => !isTemporary(one));
  const phase = phaseOf(instance);
  const phaseMs = times.msIn(`${uid} ${phase}`);
  const isAgentThere = speaks(context, instance, phaseMs);
  const hiddenMs = leftOf('pvcNotFound', context, instance);
  const machine = machines.find({ namespace, name });
  const observed: ObservedInstance = {
    instance,
    pod,
    temporary: pods.find(isTemporary),
    pods,
    volumes: volumesOf(context, instance, hiddenMs > 0),
    domainFailsMs: phase === 'Scheduled' ? leftOf('domainFails', context, instance) : 0,
    hasMachine: machine !== undefined && isControlledBy(instance, machine),
    phaseMs,
    unheardMs: pod && phase === 'Running' && isUnheard(pod) ? times.msIn(`${pod.metadata.uid} unheard`) : 0,
    hasAgent: isAgentThere,
    networkData: isAgentThere ? await networkDataOf(context, instance) : undefined,
    suffix: randomBytes(4).toString('hex').slice(0, 5),
    timings,
    nowMs: clock.now(),
  };
  const isWaiting = phase === 'Running' && !isAgentThere && hasAgent(context, instance);
  const waitMs = hiddenMs > 0 ? hiddenMs : isWaiting ? timings.agentMs - phaseMs : undefined;
  return { observed, waitMs };
}

const speaks = (context: KubevirtContext, instance: VirtualMachineInstance, phaseMs: number) =>
  phaseOf(instance) === 'Running' && hasAgent(context, instance) && phaseMs >= context.timings.agentMs;

/** How long a fault still lasts for an instance. */
function leftOf(
  mode: 'pvcNotFound' | 'domainFails',
  { faults, times }: KubevirtContext,
  instance: VirtualMachineInstance,
) {
  const { uid, name } = instance.metadata;
  const rule = isFinal(instance) ? undefined : faults.inject(uid, name, mode);
  return rule ? rule.forMs - times.msIn(`${uid} ${mode}`) : 0;
}

function volumesOf(
  { claims, dataVolumes }: KubevirtContext,
  { metadata, spec }: VirtualMachineInstance,
  hidden: boolean,
) {
  const { namespace } = metadata;
  return (spec.volumes ?? []).flatMap((volume) => {
    const claimName = claimNameOf(volume);
    if (claimName === undefined) return [];
    const claim = hidden ? undefined : claims.find({ namespace, name: claimName });
    const filledBy = claim?.metadata.ownerReferences?.find(
      ({ kind, controller }) => controller && kind === 'DataVolume',
    );
    const dataVolume = dataVolumes.find({ namespace, name: volume.dataVolume?.name ?? filledBy?.name ?? '' });
    return [{ claimName, claim, dataVolume }];
  });
}

/** What cloud-init tells the guest of its network, from the Secret that the instance names. */
async function networkDataOf({ kube }: KubevirtContext, { metadata, spec }: VirtualMachineInstance) {
  const { namespace } = metadata;
  for (const { cloudInitNoCloud, cloudInitConfigDrive } of spec.volumes ?? []) {
    const source = cloudInitNoCloud ?? cloudInitConfigDrive;
    const inline = source?.networkData;
    if (typeof inline === 'string') return inline;
    const name = source?.networkDataSecretRef?.name;
    const secret = name ? await kube.get(Secret, { namespace, name }) : undefined;
    const encoded = secret?.data?.networkdata ?? secret?.data?.networkData;
    if (encoded) return Buffer.from(encoded, 'base64').toString();
  }
  return undefined;
}
