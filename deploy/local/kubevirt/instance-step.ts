import type { Claim, DataVolume, Pod } from '../controller/kinds.ts';
import { Pod as PodResource } from '../controller/kinds.ts';
import { statusPatch } from '../controller/status-patch.ts';
import type { Step } from '../controller/step.ts';
import { eventsFrom, finalizersOf, patchOf, removalOf, type Write, withFinalizer } from '../controller/write.ts';
import { nodeName } from '../workloads/scheduling.ts';
import { imageError, nextInstanceStatus, type ObservedForInstanceStatus, type SyncError } from './instance-status.ts';
import { hasRun, isFinal, phaseOf, VirtualMachineInstance, word } from './kinds.ts';
import { launcherPodFor } from './launcher-pod.ts';
import { isDown, isStarted, isUnheard } from './launcher-status.ts';
import type { KubevirtTimings } from './settings.ts';

const eventOn = eventsFrom('virtualmachine-controller');

/** A volume's claim, and the DataVolume that fills it. */
interface ObservedVolume {
  claimName: string;
  claim: Claim | undefined;
  dataVolume: DataVolume | undefined;
}

export interface ObservedInstance extends Omit<ObservedForInstanceStatus, 'isEarly' | 'dataVolumes' | 'claims'> {
  volumes: ObservedVolume[];
  /** All launchers that are its own, temporary and going ones too. */
  pods: Pod[];
  /** The temporary launcher that makes the scheduler choose a node for a disk. */
  temporary: Pod | undefined;
  /** How long its guest still cannot start. */
  domainFailsMs: number;
  /** Whether its machine is still there. */
  hasMachine: boolean;
  /** How long it has been in its phase, and how long its launcher has not been heard of. */
  phaseMs: number;
  unheardMs: number;
  /** What the next launcher's name ends with. */
  suffix: string;
  timings: KubevirtTimings;
}

/**
 * One reconcile by virt-controller and virt-handler of an instance (KubeVirt pkg/virt-controller/watch/vmi/lifecycle.go): its
 * launcher is made or deleted, then its status is written, with the object itself since that is no subresource.
 */
export function nextForInstance(observed: ObservedInstance): Step {
  const { instance } = observed;
  if (instance.metadata.deletionTimestamp || isFinal(instance)) return end(observed);
  if (!instance.metadata.finalizers?.includes(word.instanceFinalizer)) {
    return { writes: [withFinalizer(VirtualMachineInstance, instance, word.instanceFinalizer)] };
  }
  const launch = phaseOf(instance) === 'Pending' && !observed.pod ? launching(observed) : {};
  const { phase, reason, waitMs } = nextPhase(observed);
  return {
    writes: [
      ...(launch.writes ?? []),
      ...(launch.done
        ? []
        : write(observed, phase, launch.error ?? domainError(observed) ?? imageError(observed.pod), reason)),
    ],
    waitMs,
  };
}

interface Launch {
  writes?: Write[];
  error?: SyncError;
  /** The launcher is made; what it changes is for the next reconcile. */
  done?: boolean;
}

/** What virt-handler reports if a guest cannot start (KubeVirt pkg/virt-handler/vm.go). The message is from a recording. */
const domainError = ({ domainFailsMs }: ObservedInstance): SyncError | undefined =>
  domainFailsMs > 0
    ? {
        reason: 'Synchronizing with the Domain failed.',
        message: 'failed to configure vmi network: setup failed, err: pod link (pod2de396bbeea) is missing',
      }
    : undefined;

/**
 * Creates the launcher as soon as all claims exist, whether filled or waiting for it. It does not check networks (feature gate
 * ExternalNetResourceInjection): a missing network prevents the start of the Pod.
 */
function launching({ instance, volumes, temporary, suffix }: ObservedInstance): Launch {
  const lost = volumes.find(({ claim }) => !claim);
  if (lost) {
    const message = `PVC ${instance.metadata.namespace}/${lost.claimName} does not exist, waiting for it to appear`;
    const error = { reason: 'FailedPvcNotFound', message };
    const isKnown = instance.status?.conditions?.some(
      ({ type, message: said }) => type === 'Synchronized' && said === message,
    );
    return { writes: isKnown ? [] : [eventOn(instance, 'Normal', error.reason, message)], error };
  }
  if (!volumes.every(isReadyToAttach)) return {};
  const early = volumes.some(isEarly);
  if (early && temporary) return {};
  if (!early && temporary) return { writes: removalOf(PodResource, temporary) };
  const pod = launcherPodFor(instance, suffix, early);
  const event = eventOn(instance, 'Normal', 'SuccessfulCreate', `Created virtual machine pod ${pod.metadata.name}`);
  return { writes: [{ do: 'create', resource: PodResource, object: pod }, event], done: true };
}

const dataVolumePhase = ({ dataVolume }: ObservedVolume) => dataVolume?.status?.phase ?? '';

const isEarly = (volume: ObservedVolume) => dataVolumePhase(volume) === 'WaitForFirstConsumer';

/** A claim that no DataVolume fills is taken as it is. */
const isReadyToAttach = (volume: ObservedVolume) =>
  !volume.dataVolume || isEarly(volume) || ['Succeeded', 'PendingPopulation'].includes(dataVolumePhase(volume));

interface PhaseChange {
  phase: string;
  reason?: string;
  waitMs?: number;
}

const stay = (phase: string): PhaseChange => ({ phase });

/** What comes after a phase; a final one is not asked about. */
const afterPhase: Record<string, (observed: ObservedInstance) => PhaseChange> = {
  '': (observed) => stay(hasFailedDisk(observed) ? 'Failed' : 'Pending'),
  Pending(observed) {
    if (observed.pod) return stay('Scheduling');
    return stay(hasFailedDisk(observed) ? 'Failed' : 'Pending');
  },
  Scheduling({ pod }) {
    if (!pod || isDown(pod) || pod.metadata.deletionTimestamp) return stay('Failed');
    return stay(isStarted(pod) ? 'Scheduled' : 'Scheduling');
  },
  Scheduled({ pod, phaseMs, domainFailsMs, timings }) {
    if (!pod || isDown(pod)) return stay('Failed');
    const restMs = Math.max(domainFailsMs, timings.bootMs - phaseMs);
    return restMs > 0 ? { phase: 'Scheduled', waitMs: restMs } : stay('Running');
  },
  Running({ pod, unheardMs, timings }) {
    if (!pod) return stay('Failed');
    if (isDown(pod)) return stay(pod.status?.phase === 'Succeeded' ? 'Succeeded' : 'Failed');
    if (!isUnheard(pod)) return stay('Running');
    const restMs = timings.nodeLostMs - unheardMs;
    return restMs > 0 ? { phase: 'Running', waitMs: restMs } : { phase: 'Failed', reason: 'NodeUnresponsive' };
  },
};

const hasFailedDisk = ({ volumes }: ObservedInstance) => volumes.some((volume) => dataVolumePhase(volume) === 'Failed');

const nextPhase = (observed: ObservedInstance): PhaseChange => {
  const phase = phaseOf(observed.instance);
  return afterPhase[phase]?.(observed) ?? stay(phase);
};

function write(observed: ObservedInstance, phase: string, error: SyncError | undefined, reason?: string): Write[] {
  const { instance, volumes } = observed;
  const next = nextInstanceStatus(
    {
      ...observed,
      isEarly: volumes.some(isEarly),
      dataVolumes: volumes.flatMap(({ dataVolume }) => dataVolume ?? []),
      claims: volumes.flatMap(({ claim }) => claim ?? []),
    },
    phase,
    error,
    reason,
  );
  const status = statusPatch(instance.status, next);
  const isPlaced = phase === 'Scheduled' && phaseOf(instance) !== 'Scheduled';
  if (!status) return [];
  return [
    patchOf(VirtualMachineInstance, instance, {
      ...(isPlaced ? { metadata: { labels: { [word.nodeName]: nodeName } } } : {}),
      status,
    }),
    ...(isPlaced || phase === phaseOf(instance) ? [] : phaseEvents(observed, phase)),
  ];
}

function phaseEvents({ instance }: ObservedInstance, phase: string): Write[] {
  if (phase === 'Running') return [eventOn(instance, 'Normal', 'Started', 'VirtualMachineInstance started.')];
  if (phase === 'Succeeded') return [eventOn(instance, 'Normal', 'ShuttingDown', 'Signaled Graceful Shutdown')];
  return phase === 'Failed' ? [eventOn(instance, 'Warning', 'Stopped', 'The VirtualMachineInstance crashed.')] : [];
}

/** The end of an instance: its launchers go, then it is final, then its finalizers go, the machine's own if it has none. */
function end(observed: ObservedInstance): Step {
  const { instance, pods, hasMachine } = observed;
  const deletions = instance.metadata.deletionTimestamp ? pods.flatMap((pod) => removalOf(PodResource, pod)) : [];
  if (!isFinal(instance)) {
    const phase = pods.length > 0 ? phaseOf(instance) : hasRun(instance) ? 'Succeeded' : 'Failed';
    return { writes: [...deletions, ...write(observed, phase || 'Pending', undefined)] };
  }
  const { finalizers = [] } = instance.metadata;
  const isHeld = (name: string) =>
    (name !== word.instanceFinalizer || pods.length > 0) && (name !== word.machineFinalizer || hasMachine);
  const kept = finalizers.filter(isHeld);
  if (kept.length === finalizers.length) return { writes: deletions };
  return { writes: [...deletions, finalizersOf(VirtualMachineInstance, instance, kept)] };
}
