import type { DataVolume } from '../../shared/resources/cdi/data-volume.ts';
import type { Secret } from '../../shared/resources/core/secret.ts';
import type { KubeVirtMachine } from '../../shared/resources/kubevirt/virtual-machine.ts';
import type { KubeVirtInstance } from '../../shared/resources/kubevirt/virtual-machine-instance.ts';
import type { VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import type { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { Policy } from '../../shared/rules/policy.ts';

/** One machine, its image, and what is there under the names of its children, whoever made it. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  refusals: ReadonlyMap<string, string>;
  machine: VirtualMachine;
  image: VMDiskImage | undefined;
  dataVolume: DataVolume | undefined;
  secret: Secret | undefined;
  kubeVirtMachine: KubeVirtMachine | undefined;
  instance: KubeVirtInstance | undefined;
  /** What stands under each passwordSecretRef, by `passwordKey`; undefined where nothing does. */
  passwords: ReadonlyMap<string, string | undefined>;
  /** The machines of its namespace, where its addresses have to be compared with theirs. */
  neighbours: readonly VirtualMachine[] | undefined;
  /** Of the networks that had to be looked for: whether the cluster knows such a kind, and `namespace/name` of those that do not exist. */
  networks: { isServed: boolean; missing: readonly string[] };
}

/** Where a password is kept. */
export const passwordKey = ({ name, key }: { name: string; key: string }) => `${name}/${key}`;

/**
 * What is in the way of a machine: it goes by itself; it is a step, which does; it is trouble if it lasts; or it is final until
 * its cause goes.
 */
export interface Obstacle {
  reason: string;
  message: string;
  weight: 'waits' | 'step' | 'trouble' | 'final';
  /** Where to look when a step does not end. One without this may last. */
  late?: string;
}

export const waits = (reason: string, message: string): Obstacle => ({ reason, message, weight: 'waits' });
export const step = (reason: string, message: string, late?: string): Obstacle => ({
  reason,
  message,
  weight: 'step',
  ...(late ? { late } : {}),
});
export const trouble = (reason: string, message: string): Obstacle => ({ reason, message, weight: 'trouble' });
export const final = (reason: string, message: string): Obstacle => ({ reason, message, weight: 'final' });
