import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Secret } from '../../shared/resources/core/secret.ts';
import { KubeVirtMachine } from '../../shared/resources/kubevirt/virtual-machine.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { type Finding, recordOf, stand } from '../../shared/rules/machine-status.ts';
import { traceOfMachine } from '../../shared/rules/machine-trace.ts';
import { addressesOf } from './addresses.ts';
import { changedSecret, secretFor } from './cloud-init.ts';
import { judge } from './hold-down.ts';
import { type ImageStanding, imageFinding, imageStanding } from './image-ready.ts';
import { changedKubeVirtMachine, isToRun, kubeVirtMachineFor } from './kubevirt-machine.ts';
import { sayRenamed } from './logins.ts';
import type { Observed, Obstacle } from './observed.ts';
import { waits } from './observed.ts';
import { faultOf, ownChildren, refusedChild, skipped, unreadablePolicy } from './obstacles.ts';
import { restartFinding } from './restart.ts';
import { dataVolumeFor, diskObstacle, isForFirstConsumer, rootDiskOf, sayNotEnlarged, sayRaised } from './root-disk.ts';
import { type KubeVirtState, stateOf } from './state.ts';

/**
 * Makes what a machine needs, then says how it stands. Order: root disk → cloud-init Secret → KubeVirt machine → status; the
 * first of them only once the image is ready. A crash in between is taken up where it happened.
 */
export function decide(observed: Observed): Action[] {
  if (observed.machine.metadata.deletionTimestamp) return [];
  const { own, taken } = ownChildren(observed);
  const plan = planOf(own, taken);
  return [...plan.writes, ...warnings(plan), ...standing(plan)];
}

/** What is made or changed in this pass, and why no more is. */
interface Plan {
  own: Observed;
  image: ImageStanding;
  /** Nothing more is made for the machine. */
  blocker: Obstacle | undefined;
  /** What the spec asks for that cannot be. */
  fault: Obstacle | undefined;
  writes: Action[];
  disk: ReturnType<typeof dataVolumeFor> | undefined;
  isSecretChanged: boolean;
}

function planOf(own: Observed, taken: Obstacle | undefined): Plan {
  const { machine, dataVolume, kubeVirtMachine } = own;
  const image = imageStanding(own);
  const fault = faultOf(own);
  const policyFault = unreadablePolicy(machine, own.policy);
  const blocker =
    skipped(own) ??
    taken ??
    refusedChild(own) ??
    (kubeVirtMachine ? undefined : fault) ??
    (kubeVirtMachine ? undefined : policyFault) ??
    (dataVolume || kubeVirtMachine || !('obstacle' in image) ? undefined : image.obstacle);
  const plan = { own, image, blocker, fault, writes: [], disk: undefined, isSecretChanged: false };
  if (blocker) return plan;
  const disk = dataVolume || 'obstacle' in image ? undefined : dataVolumeFor(machine, image.image, image.snapshot);
  // What cannot be carried through changes nothing that is there.
  const secret = fault ? undefined : secretWrite(own);
  const mayChange = !fault && !policyFault;
  return {
    ...plan,
    disk,
    isSecretChanged: secret?.do === 'replace',
    writes: [
      ...(disk ? [make(own, { resource: DataVolume, object: disk })] : []),
      ...(secret ? [secret] : []),
      ...(mayChange ? kubeVirtWrites(own) : []),
    ],
  };
}

type Create = Extract<Action, { do: 'create' }>;

const make = ({ machine, image }: Observed, what: Pick<Create, 'resource' | 'object'>): Action => ({
  do: 'create',
  ...what,
  owner: machine.metadata.uid,
  trace: traceOfMachine(machine, image),
});

function secretWrite(own: Observed): Action | undefined {
  const { machine, image, secret, nowMs } = own;
  if (!secret) return make(own, { resource: Secret, object: secretFor(own) });
  const object = changedSecret(own, secret, { hasStarted: hasStarted(own), nowMs });
  return (
    object && {
      do: 'replace',
      resource: Secret,
      object,
      owner: machine.metadata.uid,
      trace: traceOfMachine(machine, image),
    }
  );
}

/** The machine may have read its cloud-init Secret already. */
const hasStarted = ({ kubeVirtMachine, dataVolume, instance }: Observed) =>
  dataVolume?.status?.phase === 'Succeeded' &&
  kubeVirtMachine !== undefined &&
  (isToRun(kubeVirtMachine) || instance !== undefined);

function kubeVirtWrites(own: Observed): Action[] {
  const { machine, policy, kubeVirtMachine: found, image } = own;
  const runStrategy = machine.spec.ignoreOnDeploy && policy.values.ignoreOnDeploy !== 'Start' ? 'Halted' : 'Always';
  if (!found)
    return [make(own, { resource: KubeVirtMachine, object: kubeVirtMachineFor(machine, policy, runStrategy) })];
  if (found.metadata.deletionTimestamp) return [];
  const object = changedKubeVirtMachine(machine, policy, { found, runStrategy });
  if (!object) return [];
  const trace = traceOfMachine(machine, image);
  return [{ do: 'replace', resource: KubeVirtMachine, object, owner: machine.metadata.uid, trace }];
}

/** What a user has to know of the spec that is not carried through as it stands: once for each generation. */
function warnings({ own: { machine, dataVolume, kubeVirtMachine }, image, fault, disk }: Plan): Action[] {
  const { generation } = machine.metadata;
  const isNew = machine.status?.observedGeneration !== generation;
  const warn = (reason: string, message: string | undefined | false): Action[] =>
    message ? [recordOf(machine, true, reason, message, String(generation))] : [];
  return [
    ...warn('UserRenamed', isNew && sayRenamed(machine)),
    ...warn('DiskSizeRaised', 'image' in image && (disk || (isNew && dataVolume)) && sayRaised(machine, image.image)),
    ...warn('DiskSizeNotApplied', isNew && dataVolume && sayNotEnlarged(machine, dataVolume)),
    ...(fault && kubeVirtMachine && isNew ? warn(fault.reason, fault.message) : []),
  ];
}

function standing(plan: Plan): Action[] {
  const { own, disk } = plan;
  const { machine, nowMs, policy, image, dataVolume, kubeVirtMachine, instance } = own;
  const wasReady = machine.status?.readyAt !== undefined;
  const isClaimToCome = dataVolume !== undefined && dataVolume.status?.claimName === undefined;
  const state = kubeVirtMachine && stateOf({ machine: kubeVirtMachine, instance, wasReady, isClaimToCome });
  const cloning = dataVolume && diskObstacle(dataVolume);
  const obstacle = obstacleOf(plan, { state, cloning });
  const before = machine.status?.trouble;
  const crashes = kubeVirtMachine?.status?.startFailure?.consecutiveFailCount ?? 0;
  const judged = obstacle
    ? { ...judge(obstacle, { before, policy, nowMs, crashes }), reason: obstacle.reason }
    : { phase: 'Ready' as const, trouble: undefined, ...readiness(state) };
  const isMade = kubeVirtMachine !== undefined || plan.writes.some(({ do: verb }) => verb === 'create');
  const addresses = isMade ? addressesOf(machine, instance) : [];
  const made = dataVolume ?? disk;
  return stand(
    machine,
    {
      ...judged,
      findings: findingsOf(plan, { state, cloning }),
      fields: {
        rootDisk: made ? rootDiskOf(made as DataVolume) : machine.status?.rootDisk,
        ipAddress: addresses.find(({ ipAddress }) => ipAddress)?.ipAddress,
        addresses: addresses.length > 0 ? addresses : undefined,
        nodeName: instance?.status?.nodeName,
        trouble: judged.trouble,
      },
    },
    { nowMs, image },
  );
}

interface Seen {
  state: KubeVirtState | undefined;
  /** What is in the way of a disk that is there. */
  cloning: Obstacle | undefined;
}

/** What is in the way of the machine; undefined where it runs, or is stopped as it should be. */
function obstacleOf({ own, blocker, disk, image }: Plan, { state, cloning }: Seen): Obstacle | undefined {
  if (state?.is === 'running') return undefined;
  if (blocker) return blocker;
  const { dataVolume } = own;
  if (!dataVolume && !disk && 'obstacle' in image) return image.obstacle;
  // CDI clones for the first consumer, and a machine that is not started is none.
  if (state?.is === 'halted' && dataVolume) return isForFirstConsumer(dataVolume) ? undefined : cloning;
  const starting = state?.is === 'not there yet' ? state.obstacle : undefined;
  const isLeft = cloning && !(dataVolume && isForFirstConsumer(dataVolume));
  const found = [...(isLeft ? [cloning] : []), ...(starting ? [starting] : [])];
  const order = ['final', 'trouble', 'waits'] as const;
  const heaviest = order.map((weight) => found.find((one) => one.weight === weight)).find((one) => one !== undefined);
  return heaviest ?? waits('Starting', 'Its disk, its cloud-init Secret and its KubeVirt machine are being made.');
}

const readiness = (state: KubeVirtState | undefined) =>
  state?.is === 'halted'
    ? { reason: 'Halted', message: state.message }
    : { reason: 'Running', message: state?.is === 'running' ? state.message : '' };

function findingsOf(plan: Plan, seen: Seen): Finding[] {
  const { own, isSecretChanged } = plan;
  const fault = plan.fault ?? refusedChild(own);
  const restart = restartFinding(own, { fault, isRewritten: isSecretChanged && hasStarted(own) });
  return [imageSaid(plan), diskFinding(plan, seen), ...machineFinding(seen), ...(restart ? [restart] : [])];
}

/** Once there is a disk the image matters no more; so a machine that runs is not written to when its image moves on. */
function imageSaid({ own: { dataVolume, machine }, image, disk }: Plan): Finding {
  const made = dataVolume
    ? rootDiskOf(dataVolume)
    : disk
      ? rootDiskOf(disk as unknown as DataVolume)
      : machine.status?.rootDisk;
  if (!made) return imageFinding(image);
  return {
    type: 'ImageReady',
    status: 'True',
    reason: 'ImageReady',
    message: `The disk is a clone of revision ${made.revision}.`,
  };
}

function diskFinding({ own: { machine, dataVolume }, blocker, disk }: Plan, { state, cloning }: Seen): Finding {
  const finding = (status: Finding['status'], reason: string, message: string): Finding => ({
    type: 'DiskReady',
    status,
    reason,
    message,
  });
  // A claim that was deleted under a machine stays for as long as that runs (pvc-protection).
  if (state?.is === 'running' && (cloning || !dataVolume)) {
    const message = `The DataVolume of the disk was deleted under the machine, which runs on; when it stops it gets a new disk, without what is on this one.`;
    return finding('False', 'DiskReplaced', message);
  }
  if (cloning) return finding('False', cloning.reason, cloning.message);
  if (dataVolume) {
    const small = sayNotEnlarged(machine, dataVolume);
    return finding('True', small ? 'DiskSizeNotApplied' : 'Cloned', small ?? 'The disk is cloned.');
  }
  if (disk)
    return finding('False', 'Cloning', `DataVolume ${disk.metadata.namespace}/${disk.metadata.name} is being made.`);
  return finding(
    'False',
    blocker?.reason ?? 'ImageNotReady',
    blocker?.message ?? 'The image to clone the disk from is not ready.',
  );
}

function machineFinding({ state }: Seen): Finding[] {
  if (!state) return [];
  const said = state.is === 'not there yet' ? state.obstacle : readiness(state);
  const status = state.is === 'running' ? ('True' as const) : ('False' as const);
  return [{ type: 'MachineReady', status, reason: said.reason, message: said.message }];
}
