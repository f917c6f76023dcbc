import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { hostKeyLabel, Secret } from '../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import {
  machineUidLabel,
  networkProviderAnnotation,
  VirtualMachine,
} from '../../shared/kinds/pelotech/virtual-machine.ts';
import { type KubernetesObject, nameOf, type Resource } from '../../shared/kinds/resource.ts';
import { nameTaken, owns } from '../../shared/kubernetes/ownership.ts';
import { formatRefusal, type Refusal, refusalKey } from '../../shared/kubernetes/refusal.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { sentence } from '../../shared/sentence.ts';
import { cloudInitName, rootDiskName } from './children.ts';
import { forbiddenBy } from './disk/image-ready.ts';
import { isCloneOf } from './disk/root-disk.ts';
import { collision } from './guest/logins.ts';
import { missingPassword, withKept } from './guest/passwords.ts';
import { hardwareFault } from './kubevirt/missing-hardware.ts';
import { forbiddenNetwork, networkFault } from './network/missing-network.ts';
import { addressFault, addressInUse } from './network/networks.ts';
import { final, type Observed, type Obstacle, trouble, waits } from './observed.ts';

/** What the spec asks for that cannot be; heals when it is corrected. */
export function faultOf(observed: Observed): Obstacle | undefined {
  const { machine, neighbours } = observed;
  return (
    collision(machine) ??
    addressFault(machine) ??
    forbiddenNetwork(observed) ??
    (neighbours && addressInUse(machine, neighbours)) ??
    missingPassword(observed) ??
    missingHostKey(observed) ??
    networkFault(observed) ??
    hardwareFault(observed)
  );
}

/** Says nothing of what the Secret holds. */
function missingHostKey({ machine: { metadata, spec }, hostKey }: Observed): Obstacle | undefined {
  const { sshHostKeySecretRef: ref } = spec;
  if (!ref || hostKey !== undefined) return undefined;
  const message = `Expected the host key of ssh in key ${ref.key} of Secret ${metadata.namespace}/${ref.name} with the label ${hostKeyLabel}, found none; create it, and the machine continues within ten minutes.`;
  return final('HostKeyMissing', message);
}

/** The machine is not to be made at all. */
export const skipped = ({ machine, policy, dataVolume, kubeVirtMachine }: Observed): Obstacle | undefined =>
  machine.spec.ignoreOnDeploy && policy.values.ignoreOnDeploy === 'Skip' && !dataVolume && !kubeVirtMachine
    ? waits('Skipped', "Not made, because its ignoreOnDeploy is true and the policy's ignoreOnDeploy says Skip.")
    : undefined;

/** A key of the policy that the machine depends on does not parse: it is neither made nor changed. */
export function unreadablePolicy({ metadata, spec }: VirtualMachine, policy: Policy): Obstacle | undefined {
  const hasProvider = metadata.annotations?.[networkProviderAnnotation] !== undefined;
  const keys = [
    ...(spec.ignoreOnDeploy ? (['ignoreOnDeploy'] as const) : []),
    ...(spec.interfaces?.length && !hasProvider ? (['networkProvider'] as const) : []),
    ...(spec.interfaces?.some(({ network }) => network.includes('/')) ? (['machineNetworks'] as const) : []),
    ...(spec.instancetype === undefined ? [] : (['machineInstancetypes'] as const)),
  ];
  const broken = keys.find((key) => !isValid(policy, key));
  return broken && waits('InvalidPolicy', `Waiting until the policy's ${broken} parses again.`);
}

/** The children that are the machine's, and the objects that have the name of a child and are not. */
export function ownChildren(observed: Observed): { own: Observed; taken: Obstacle | undefined } {
  const { machine, dataVolume, secret, kubeVirtMachine } = observed;
  const isOurs = (object: KubernetesObject | undefined) =>
    object && owns(machine, object) && (object !== dataVolume || isMade(observed, dataVolume));
  const foreign = [dataVolume, secret, kubeVirtMachine].find((object) => object && !isOurs(object));
  return {
    own: {
      ...observed,
      dataVolume: isOurs(dataVolume) ? dataVolume : undefined,
      secret: isOurs(secret) ? secret : undefined,
      passwords: secret && isOurs(secret) ? withKept(observed, secret) : observed.passwords,
      kubeVirtMachine: isOurs(kubeVirtMachine) ? kubeVirtMachine : undefined,
      instance: isOurs(kubeVirtMachine) ? observed.instance : undefined,
    },
    taken: foreign && takenBy(machine, foreign),
  };
}

/**
 * An author who may create DataVolumes can name a machine as their owner. Ours is the disk whose uid is in the status; while the status has
 * none, or was lost, a disk that we would create: a clone of the image that the policy lets the machine name.
 */
function isMade({ machine, image, policy }: Observed, disk: DataVolume): boolean {
  const { made, cloned } = machine.status?.rootDisk ?? {};
  if (disk.metadata.uid === made || disk.metadata.uid === cloned) return true;
  return image !== undefined && !forbiddenBy(machine, policy) && isCloneOf(image, disk);
}

function takenBy(machine: VirtualMachine, object: KubernetesObject): Obstacle {
  const { labels, ownerReferences } = object.metadata;
  const found = nameOf(object, object.metadata);
  const { namespace, name, uid } = machine.metadata;
  if (owns(machine, object)) {
    const rootDisk = { name: object.metadata.name, image: '', revision: 0, made: object.metadata.uid };
    return final(
      'NameTaken',
      `Expected ${found} to be a clone that was made for the machine, found another, as of a restored backup; delete it. To take it over, with what is on it: kubectl patch otvm ${name} -n ${namespace} --subresource=status --type=merge -p '${JSON.stringify({ status: { rootDisk } })}'`,
    );
  }
  // Who restores a backup gets all objects under new uids, and without owners (Velero, pkg/restore/restore.go).
  if (labels?.[machineUidLabel] !== undefined && !ownerReferences?.length) {
    return final(
      'NameTaken',
      `Expected ${found} to be the machine's own, found one of an earlier machine, without an owner, as a restored backup is. To take it over, with what is on it, set its ownerReferences to VirtualMachine ${name} (apiVersion ${VirtualMachine.apiVersion}, uid ${uid}, controller true).`,
    );
  }
  const { reason, message, isFinal } = nameTaken('machine', machine, object);
  return isFinal ? final(reason, message) : waits(reason, message);
}

/**
 * Of a Secret nothing else may be repeated: the API server, or a webhook, may quote what is in it. Words of kube-apiserver,
 * plugin/pkg/admission/resourcequota/controller.go and staging/src/k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.
 */
const isAboutNamespace = ({ reason, message }: Refusal) =>
  reason === 'Forbidden' &&
  /^secrets "[^"]*" is forbidden: (exceeded quota|failed quota|unable to create new content in namespace)/.test(
    message,
  );

/** A child that the API server refused in this reconcile. */
export function refusedChild({ machine, refusals, kubeVirtMachine }: Observed): Obstacle | undefined {
  const { namespace, name } = machine.metadata;
  const children: readonly (readonly [Resource, string])[] = [
    [DataVolume, rootDiskName(name)],
    [Secret, cloudInitName(name)],
    [KubeVirtMachine, name],
  ];
  for (const [resource, child] of children) {
    const refusal = refusals.get(refusalKey(resource, { namespace, name: child }));
    if (refusal === undefined) continue;
    const { reason } = refusal;
    const isSecret = resource.holdsPasswords && !isAboutNamespace(refusal) && reason !== 'NameTaken';
    // A machine that was made once has been accepted before: what is in the way now may go.
    const weight = machine.status?.rootDisk || kubeVirtMachine ? trouble : final;
    return weight(
      reason === 'Forbidden' || reason === 'NameTaken' ? reason : 'Rejected',
      `${resource.kind} ${namespace}/${child} was refused: ${sentence(isSecret ? reason : formatRefusal(refusal))}`,
    );
  }
  return undefined;
}
