import { conditionOf } from '../../../shared/kubernetes/conditions.ts';
import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Contents } from '../controller/conditions.ts';
import type { Claim, DataVolume, Pod } from '../controller/kinds.ts';
import { nodeName } from '../workloads/scheduling.ts';
import { hasCondition, withConditions } from './conditions.ts';
import { interfacesOf, withAgent } from './guest-network.ts';
import {
  type Condition,
  claimNameOf,
  type InstanceStatus,
  type Interface,
  phaseOf,
  type VirtualMachineInstance,
} from './kinds.ts';
import { isDown, readyConditionOf, waitingReason } from './launcher-status.ts';

/** Why a reconcile of an instance could not do what was due; it stands in the condition Synchronized. */
export interface SyncError {
  reason: string;
  message: string;
}

export interface ObservedForInstanceStatus {
  instance: VirtualMachineInstance;
  /** The launcher that is to run the guest. */
  pod: Pod | undefined;
  dataVolumes: DataVolume[];
  claims: Claim[];
  /** One of its DataVolumes waits for its consumer. */
  isEarly: boolean;
  /** The guest's agent speaks. */
  hasAgent: boolean;
  /** What cloud-init tells the guest of its network. */
  networkData: string | undefined;
  nowMs: number;
}

/** The next status of an instance in a phase (KubeVirt pkg/virt-controller/watch/vmi/lifecycle.go, updateStatus, and virt-handler). */
export function nextInstanceStatus(
  observed: ObservedForInstanceStatus,
  phase: string,
  error: SyncError | undefined,
  reason?: string,
): InstanceStatus {
  const { instance, nowMs } = observed;
  const before = instance.status ?? {};
  const isNew = phase !== phaseOf(instance);
  const transitions = before.phaseTransitionTimestamps ?? [];
  return {
    ...before,
    phase,
    ...(reason ? { reason } : {}),
    conditions: nextConditions(observed, phase, error),
    ...(isNew
      ? { phaseTransitionTimestamps: [...transitions, { phase, phaseTransitionTimestamp: toTime(nowMs) }] }
      : {}),
    ...placement(observed, phase),
  };
}

/** What is known once there is a node: where it runs, and its interfaces. */
function placement({ instance, hasAgent, networkData }: ObservedForInstanceStatus, phase: string) {
  if (phase !== 'Scheduled' && phase !== 'Running') return {};
  const infoSource = phase === 'Running' ? 'domain, multus-status' : 'multus-status';
  const interfaces = interfacesOf(instance.spec, instance.metadata.uid, infoSource);
  return {
    nodeName,
    interfaces: interfacesAt(phase, interfaces, { hasAgent, networkData }),
    ...(hasAgent && phase === 'Running' ? { guestOSInfo: { id: 'ubuntu', name: 'Ubuntu', version: '24.04' } } : {}),
  };
}

/** Addresses are reported once the guest runs. */
function interfacesAt(
  phase: string,
  known: Interface[],
  { hasAgent, networkData }: Pick<ObservedForInstanceStatus, 'hasAgent' | 'networkData'>,
) {
  if (phase !== 'Running') return known.map(({ ipAddress: _, ipAddresses: __, ...one }) => one);
  return hasAgent ? withAgent(known, networkData) : known;
}

function nextConditions(observed: ObservedForInstanceStatus, phase: string, error: SyncError | undefined): Condition[] {
  const { instance, pod, nowMs, isEarly } = observed;
  const before = instance.status?.conditions ?? [];
  const scheduling = podScheduled(pod, phase, error);
  const next = [
    readiness(instance, pod),
    ...dataVolumesReady(observed),
    ...(phase === 'Pending' && isEarly ? [{ type: 'Provisioning', status: 'True' }] : []),
    ...(scheduling ? [scheduling] : []),
    ...(error ? [{ type: 'Synchronized', status: 'False', ...error }] : []),
    ...(phase === 'Running' ? running(observed) : []),
  ];
  const isOver = (type: string) =>
    ['Synchronized', 'PodScheduled', 'Provisioning', 'AgentConnected'].includes(type) &&
    !next.some((one) => one.type === type);
  const kept = before.filter(({ type }) => !isOver(type));
  // The same reason again does not update the message.
  const isKnown = error && hasCondition(before, 'Synchronized', 'False', error.reason);
  return withConditions(kept, isKnown ? next.filter(({ type }) => type !== 'Synchronized') : next, nowMs);
}

const notReady = (reason: string, message: string): Contents => ({ type: 'Ready', status: 'False', reason, message });

/** Ready as the launcher tells it, and only while the guest runs. */
function readiness(instance: VirtualMachineInstance, pod: Pod | undefined): Contents {
  if (!pod) return notReady('PodNotExists', 'virt-launcher pod has not yet been scheduled');
  if (pod.metadata.deletionTimestamp || isDown(pod))
    return notReady('PodTerminating', 'virt-launcher pod is terminating');
  if (phaseOf(instance) !== 'Running') return notReady('GuestNotRunning', 'Guest VM is not reported as running');
  const condition = readyConditionOf(pod);
  if (!condition) return notReady('PodConditionMissing', 'virt-launcher pod is missing the Ready condition');
  const { status, reason, message } = condition;
  return { type: 'Ready', status, ...(reason ? { reason } : {}), ...(message ? { message } : {}) };
}

function podScheduled(pod: Pod | undefined, phase: string, error: SyncError | undefined): Contents | undefined {
  if (phase === 'Pending' && error?.reason === 'FailedPvcNotFound')
    return { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: error.message };
  if (phase !== 'Scheduling' && phase !== 'Pending') return undefined;
  const condition = pod?.status?.conditions.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  return condition && { type: 'PodScheduled', status: 'False', reason: condition.reason, message: condition.message };
}

function dataVolumesReady({ dataVolumes }: ObservedForInstanceStatus): Contents[] {
  if (dataVolumes.length === 0) return [];
  const all = dataVolumes.map(({ status }) => conditionOf(status?.conditions, 'Ready')?.status);
  if (all.every((status) => status === 'True')) {
    const message = "All of the VMI's DVs are bound and ready";
    return [{ type: 'DataVolumesReady', status: 'True', reason: 'AllDVsReady', message }];
  }
  const status = all.includes('False') ? 'False' : 'Unknown';
  const message = "Not all of the VMI's DVs are ready";
  return [{ type: 'DataVolumesReady', status, reason: 'NotAllDVsReady', message }];
}

function running({ instance, claims, hasAgent }: ObservedForInstanceStatus): Contents[] {
  const own = (instance.spec.volumes ?? []).map(claimNameOf);
  const alone = claims.find(
    ({ metadata, spec }) => own.includes(metadata.name) && !spec.accessModes?.includes('ReadWriteMany'),
  );
  const message = `cannot migrate VMI: PVC ${alone?.metadata.name} is not shared, live migration requires that all PVCs must be shared (using ReadWriteMany access mode)`;
  return [
    alone
      ? { type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable', message }
      : { type: 'LiveMigratable', status: 'True' },
    ...(hasAgent ? [{ type: 'AgentConnected', status: 'True' }] : []),
  ];
}

/** What a launcher's image that cannot be pulled is to Synchronized. */
export function imageError(pod: Pod | undefined): SyncError | undefined {
  const { reason, message = '' } = (pod && waitingReason(pod)) ?? {};
  return reason === 'ErrImagePull' || reason === 'ImagePullBackOff' ? { reason, message } : undefined;
}
