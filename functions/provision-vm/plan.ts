import type { Action } from '../../shared/actions.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { type ImageReadiness, imageReadiness } from './disk/image-ready.ts';
import { outdatedDisk } from './disk/outdated-disk.ts';
import { dataVolumeFor, rootDiskOf } from './disk/root-disk.ts';
import { changedSecret, secretFor } from './guest/cloud-init.ts';
import { changedKubeVirtMachine, isToRun, kubeVirtMachineFor, runStrategyFor } from './kubevirt/kubevirt-machine.ts';
import type { Observed, Obstacle } from './observed.ts';
import { faultOf, refusedChild, skipped, unreadablePolicy } from './obstacles.ts';

/** What is made or changed in this reconcile, and why no more is. */
export interface Plan {
  own: Observed;
  image: ImageReadiness;
  /** Nothing more is made for the machine. */
  blocker: Obstacle | undefined;
  /** What the spec asks for that cannot be. */
  fault: Obstacle | undefined;
  writes: Action[];
  disk: ReturnType<typeof dataVolumeFor> | undefined;
  /** The existing disk is deleted and will be created again. */
  outdated: Obstacle | undefined;
  /** The cloud-init Secret that was there, as it is after this reconcile. */
  secret: Secret | undefined;
  /** The KubeVirt machine that was there, as it is after this reconcile. */
  kubeVirtMachine: KubeVirtMachine | undefined;
}

/** What to make and to change of a machine, given the objects with the names of its children. */
export function planOf(own: Observed, taken: Obstacle | undefined): Plan {
  const { machine, dataVolume, nowMs } = own;
  const image = imageReadiness(own);
  const fault = faultOf(own);
  const policyFault = unreadablePolicy(machine, own.policy);
  const blocker = skipped(own) ?? taken ?? refusedChild(own) ?? blockerOfNew(own, fault ?? policyFault, image);
  const asFound = { disk: undefined, outdated: undefined, secret: own.secret, kubeVirtMachine: own.kubeVirtMachine };
  const plan = { own, image, blocker, fault, writes: [], ...asFound };
  if (blocker) return plan;
  const disk = dataVolume || 'obstacle' in image ? undefined : dataVolumeFor(machine, image.image, image.snapshot);
  const outdated = outdatedDisk(own, image);
  // A spec that cannot be applied changes no existing object.
  const secret =
    fault || !own.secret ? undefined : changedSecret(own, own.secret, { hasStarted: hasStarted(own), nowMs });
  const changed = fault || policyFault ? undefined : changedMachine(own);
  return {
    ...plan,
    disk,
    outdated,
    secret: secret ?? own.secret,
    kubeVirtMachine: changed ?? own.kubeVirtMachine,
    writes: [
      ...(outdated ? removeDisk(own) : []),
      ...(disk ? [make(own, { resource: DataVolume, object: disk })] : []),
      ...(own.secret || fault ? [] : [make(own, { resource: Secret, object: secretFor(own) })]),
      ...(secret ? [replace(own, Secret, secret)] : []),
      ...(changed ? [replace(own, KubeVirtMachine, changed)] : []),
      ...(own.kubeVirtMachine || fault || policyFault ? [] : [makeMachine(own)]),
    ],
  };
}

/** What stops only a machine that is to be made: an existing disk needs no image, an existing KubeVirt machine just keeps its spec. */
function blockerOfNew({ dataVolume, kubeVirtMachine }: Observed, fault: Obstacle | undefined, image: ImageReadiness) {
  if (kubeVirtMachine) return undefined;
  if (fault || dataVolume) return fault;
  return 'obstacle' in image ? image.obstacle : undefined;
}

/** The root disk that exists, existed, or is created in this reconcile, with its uid; and whether it was ever observed as cloned. */
export function rootDiskIn({ own: { machine, dataVolume }, disk }: Plan) {
  const before = machine.status?.rootDisk;
  const found = dataVolume ?? disk;
  if (!found) return before;
  const uid = dataVolume?.metadata.uid;
  const isCloned = uid !== undefined && (dataVolume?.status?.phase === 'Succeeded' || before?.cloned === uid);
  // A status of an earlier release has `cloned` only, and is not written again for this.
  const made = before?.made === undefined && before?.cloned === uid ? undefined : uid;
  // A merge patch leaves the uid of an earlier disk.
  const cloned = isCloned ? uid : before?.cloned;
  return { ...rootDiskOf(found), ...(made ? { made } : {}), ...(cloned ? { cloned } : {}) };
}

type Create = Extract<Action, { do: 'create' }>;
type Replace = Extract<Action, { do: 'replace' }>;

const make = ({ machine }: Observed, what: Pick<Create, 'resource' | 'object'>): Action => ({
  do: 'create',
  ...what,
  owner: machine.metadata.uid,
});

/** Only as it was observed: what CDI has begun to clone since stays. */
function removeDisk({ dataVolume }: Observed): Action[] {
  if (!dataVolume || dataVolume.metadata.deletionTimestamp) return [];
  return [{ do: 'delete', resource: DataVolume, of: dataVolume, unchanged: true }];
}

const replace = ({ machine }: Observed, resource: Resource, object: Replace['object']): Action => ({
  do: 'replace',
  resource,
  object,
  owner: machine.metadata.uid,
});

/** The machine may have read its cloud-init Secret already. */
const hasStarted = ({ kubeVirtMachine, dataVolume, instance }: Observed) =>
  dataVolume?.status?.phase === 'Succeeded' &&
  kubeVirtMachine !== undefined &&
  (isToRun(kubeVirtMachine) || instance !== undefined);

function makeMachine(own: Observed): Action {
  const { machine, policy } = own;
  const object = kubeVirtMachineFor(machine, policy, runStrategyFor(machine, policy));
  return make(own, { resource: KubeVirtMachine, object });
}

function changedMachine({ machine, policy, kubeVirtMachine: found }: Observed): KubeVirtMachine | undefined {
  if (!found || found.metadata.deletionTimestamp) return undefined;
  return changedKubeVirtMachine(machine, policy, { found, runStrategy: runStrategyFor(machine, policy) });
}
