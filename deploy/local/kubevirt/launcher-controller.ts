import type { ObjectReference } from '../../../shared/kinds/resource.ts';
import { claimsOf, type Pod, Secret } from '../controller/kinds.ts';
import { controllerOf } from '../controller/owner.ts';
import { performStep } from '../controller/step.ts';
import type { Again } from '../controller/work-queue.ts';
import { networksOf } from '../workloads/networks.ts';
import { lateAmong } from '../workloads/scheduling.ts';
import type { KubevirtContext } from './context.ts';
import { hangs, hasAgent, type Probed, probed } from './guest.ts';
import { phaseOf, type VirtualMachineInstance } from './kinds.ts';
import { isTemporary, launcherScheduler, mountedSecrets } from './launcher-pod.ts';
import { isReady, waitingReason } from './launcher-status.ts';
import { nextForLauncher, type ObservedLauncher } from './launcher-step.ts';

/** Simulates scheduler, kubelet and virt-launcher for one Pod that names the simulated scheduler. */
export async function reconcileLauncher(context: KubevirtContext, ref: ObjectReference): Promise<Again> {
  const pod = context.pods.find(ref);
  if (pod?.spec.schedulerName !== launcherScheduler) return undefined;
  return performStep(context, nextForLauncher(await observe(context, pod)));
}

async function observe(context: KubevirtContext, pod: Pod): Promise<ObservedLauncher> {
  const { clock, timings, claims, times, instances, storageClasses } = context;
  const { uid, namespace, deletionTimestamp } = pod.metadata;
  const names = claimsOf(pod);
  const mounted = names.flatMap((name) => claims.find({ namespace, name }) ?? []);
  const machine = controllerOf(pod)?.name ?? '';
  const instance = instances.find({ namespace, name: machine });
  const isGuestUp =
    instance?.metadata.uid === controllerOf(pod)?.uid && instance !== undefined && phaseOf(instance) === 'Running';
  const upMs = isGuestUp ? times.msIn(`${uid} up`) : 0;
  return {
    pod,
    claims: mounted,
    hasAllClaims: mounted.length === names.length,
    lateClaims: lateAmong(mounted, storageClasses.objects),
    missingSecret: pod.status?.phase === 'Running' || deletionTimestamp ? undefined : await missingSecret(context, pod),
    missingNetwork: missingNetwork(context, pod),
    isGuestUp,
    upMs,
    probed: probesOf(context, pod, instance, isGuestUp ? upMs : undefined),
    deletedMs: deletionTimestamp ? times.msIn(`${uid} deleted`) : 0,
    stateMs: times.msIn(`${uid} ${stateOf(pod)}`),
    timings,
    nowMs: clock.now(),
    ...faultsOf(context, pod, machine),
  };
}

/** A guest that is not up is not asked: its container is ready if no probe holds that back. */
function probesOf(
  context: KubevirtContext,
  pod: Pod,
  instance: VirtualMachineInstance | undefined,
  upMs: number | undefined,
): Probed {
  if (!instance || upMs === undefined) return { isReady: !instance?.spec.readinessProbe, isAlive: true };
  const { agentMs, probeSecondMs } = context.timings;
  const hung = instance.metadata.annotations?.[hangs];
  return probed(instance.spec, {
    upMs,
    hungMs: hung === undefined ? undefined : context.times.msIn(`${pod.metadata.uid} hangs ${hung}`),
    hasAgent: hasAgent(context, instance),
    agentMs,
    wasReady: isReady(pod),
    secondMs: probeSecondMs,
  });
}

/** What a launcher waits for: its state as far as time counts in it. Each pull is a state of its own. */
const stateOf = (pod: Pod) => {
  const { phase = '', conditions = [] } = pod.status ?? {};
  const reason = waitingReason(pod)?.reason ?? '';
  const since = reason.includes('Image') ? pod.metadata.resourceVersion : '';
  return [phase, ...conditions.map(({ type, status }) => type + status), reason, since].join();
};

function faultsOf({ faults, times, timings }: KubevirtContext, pod: Pod, machine: string) {
  const { uid, resourceVersion } = pod.metadata;
  const inject = <M extends Parameters<typeof faults.inject>[2]>(mode: M, occasion = uid) =>
    isTemporary(pod) ? undefined : faults.inject(occasion, machine, mode);
  const unschedulable = faults.inject(uid, machine, 'unschedulable');
  const isPulling = pod.status?.phase === 'Pending' && waitingReason(pod)?.reason !== 'ErrImagePull';
  const isWaiting = waitingReason(pod) !== undefined;
  const stuck = pod.metadata.deletionTimestamp ? inject('stuckTerminating') : undefined;
  const shutdown = inject('guestShutdown');
  const lost = inject('nodeLost');
  const graceMs = Math.min(timings.shutdownMs, Number(pod.spec.terminationGracePeriodSeconds ?? 30) * 1000);
  return {
    unschedulableMs: unschedulable ? unschedulable.forMs - times.msIn(`${uid} unschedulable`) : 0,
    pullFails: isPulling && isWaiting && inject('imagePull', `${uid} ${resourceVersion}`) !== undefined,
    crashes: inject('crashLoop') !== undefined,
    shutdownAfterMs: shutdown && (shutdown.afterMs ?? 0),
    lostAfterMs: lost && (lost.afterMs ?? 0),
    graceMs: stuck ? stuck.forMs : graceMs,
  };
}

async function missingSecret({ kube }: KubevirtContext, pod: Pod): Promise<string | undefined> {
  const { namespace } = pod.metadata;
  for (const name of mountedSecrets(pod)) {
    if (!(await kube.get(Secret, { namespace, name }))) return name;
  }
  return undefined;
}

function missingNetwork({ networks }: KubevirtContext, pod: Pod): string | undefined {
  const found = networksOf(pod).find((ref) => !networks.find(ref));
  return found && `${found.namespace}/${found.name}`;
}
