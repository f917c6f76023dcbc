import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { Secret } from '../../shared/kinds/core/secret.ts';
import type { KubeVirtMachine } from '../../shared/kinds/kubevirt/virtual-machine.ts';
import type { KubeVirtInstance } from '../../shared/kinds/kubevirt/virtual-machine-instance.ts';
import type { MachineCondition, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { NewCondition } from '../../shared/kubernetes/status.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Cause, Reason } from '../../shared/reasons/reason.ts';
import type { MatcherField } from './kubevirt/hardware.ts';

/** One machine, its image, and the objects under the names of its children, of any owner. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  refusals: Refusals;
  machine: VirtualMachine;
  image: VMDiskImage | undefined;
  dataVolume: DataVolume | undefined;
  secret: Secret | undefined;
  kubeVirtMachine: KubeVirtMachine | undefined;
  instance: KubeVirtInstance | undefined;
  /** The password of each passwordSecretRef, by `passwordKey`; undefined if it is missing. */
  passwords: ReadonlyMap<string, string | undefined>;
  /** The Secrets among these that exist and may not be put into a guest: nothing of them is read. */
  refusedSecrets: ReadonlySet<string>;
  /** The key of sshHostKeySecretRef, if the spec has one and it may be put into a guest. */
  hostKey?: string | undefined;
  /** The machines that may be on its networks, where its addresses have to be compared with theirs. */
  neighbours: readonly VirtualMachine[] | undefined;
  /** Whether the cluster serves NetworkAttachmentDefinitions, and the `namespace/name` of the needed ones that do not exist. */
  networks: { isServed: boolean; missing: readonly string[] };
  /** The fields of its spec that name an object of KubeVirt which is needed and does not exist. */
  missing: readonly MatcherField[];
}

/** Machines that were not read: the reconcile has reached its limit. */
export interface Postponed {
  postponed: readonly ObjectReference[];
}

export type NewMachineCondition = NewCondition<MachineCondition>;

/** Where a password is kept. */
export const passwordKey = ({ name, key }: { name: string; key: string }) => `${name}/${key}`;

/**
 * What keeps a machine from being Ready. `waits` ends by itself. A `step` ends too, but is Failed if it has `late` and lasts too
 * long. `trouble` is Failed if it lasts. `final` is Failed at once, until the cause is removed.
 */
export interface Obstacle extends Cause {
  weight: 'waits' | 'step' | 'trouble' | 'final';
  /** Where to look if the step does not end. A step without it may last for any time. */
  late?: string;
  /** How long it may last, in milliseconds, if that is not for the policy to say. */
  limitMs?: number;
}

export const waits = (reason: Reason, message: string): Obstacle => ({ reason, message, weight: 'waits' });
export const step = (reason: Reason, message: string, late?: string): Obstacle => ({
  reason,
  message,
  weight: 'step',
  ...(late ? { late } : {}),
});
export const trouble = (reason: Reason, message: string): Obstacle => ({ reason, message, weight: 'trouble' });
export const final = (reason: Reason, message: string): Obstacle => ({ reason, message, weight: 'final' });
