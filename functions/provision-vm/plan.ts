import { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import { Secret } from '../../shared/resources/core/secret.ts';
import { KubeVirtMachine } from '../../shared/resources/kubevirt/virtual-machine.ts';
import type { Action } from '../../shared/rules/actions.ts';
import { traceOfMachine } from '../../shared/rules/machine-trace.ts';
import { changedSecret, secretFor } from './cloud-init.ts';
import { type ImageStanding, imageStanding } from './image-ready.ts';
import { changedKubeVirtMachine, isToRun, kubeVirtMachineFor } from './kubevirt-machine.ts';
import { missingPassword } from './logins.ts';
import type { Observed, Obstacle } from './observed.ts';
import { faultOf, refusedChild, skipped, unreadablePolicy } from './obstacles.ts';
import { outdatedDisk } from './outdated-disk.ts';
import { dataVolumeFor, rootDiskOf } from './root-disk.ts';

/** What is made or changed in this pass, and why no more is. */
export interface Plan {
  own: Observed;
  image: ImageStanding;
  /** Nothing more is made for the machine. */
  blocker: Obstacle | undefined;
  /** What the spec asks for that cannot be. */
  fault: Obstacle | undefined;
  writes: Action[];
  disk: ReturnType<typeof dataVolumeFor> | undefined;
  /** The disk that is there is deleted, to be made anew. */
  outdated: Obstacle | undefined;
  isSecretChanged: boolean;
}

/** What to make and to change of a machine, given what stands under the names of its children. */
export function planOf(own: Observed, taken: Obstacle | undefined): Plan {
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
  const plan = { own, image, blocker, fault, writes: [], disk: undefined, outdated: undefined, isSecretChanged: false };
  if (blocker) return plan;
  const disk = dataVolume || 'obstacle' in image ? undefined : dataVolumeFor(machine, image.image, image.snapshot);
  const outdated = outdatedDisk(own, image);
  // What cannot be carried through changes nothing that is there.
  const secret = fault ? undefined : secretWrite(own);
  const mayChange = !fault && !policyFault;
  return {
    ...plan,
    disk,
    outdated,
    isSecretChanged: secret?.do === 'replace',
    writes: [
      ...(outdated ? removeDisk(own) : []),
      ...(disk ? [make(own, { resource: DataVolume, object: disk })] : []),
      ...(secret ? [secret] : []),
      ...(mayChange ? kubeVirtWrites(own) : []),
    ],
  };
}

/** The root disk that is there, or is made in this pass, or was there. */
export function rootDiskIn({ own: { machine, dataVolume }, disk }: Plan) {
  const found = dataVolume ?? disk;
  return found ? rootDiskOf(found) : machine.status?.rootDisk;
}

type Create = Extract<Action, { do: 'create' }>;

const make = ({ machine, image }: Observed, what: Pick<Create, 'resource' | 'object'>): Action => ({
  do: 'create',
  ...what,
  owner: machine.metadata.uid,
  trace: traceOfMachine(machine, image),
});

/** Only as it was observed: what CDI has begun to clone since stays. */
function removeDisk({ machine, image, dataVolume }: Observed): Action[] {
  if (!dataVolume || dataVolume.metadata.deletionTimestamp) return [];
  const trace = traceOfMachine(machine, image);
  return [{ do: 'delete', resource: DataVolume, of: dataVolume, unchanged: true, trace }];
}

function secretWrite(own: Observed): Action | undefined {
  const { machine, image, secret, nowMs } = own;
  if (!secret) return make(own, { resource: Secret, object: secretFor(own) });
  // Who has started may have the Secret with the first password taken away: what was made of it stays.
  if (missingPassword(own)) return undefined;
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
export const hasStarted = ({ kubeVirtMachine, dataVolume, instance }: Observed) =>
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
