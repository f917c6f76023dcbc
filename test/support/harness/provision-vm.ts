import { decide } from '../../../functions/provision-vm/decide.ts';
import type { Observed } from '../../../functions/provision-vm/observed.ts';
import type { Action } from '../../../shared/actions.ts';
import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { KubeVirtMachine } from '../../../shared/kinds/kubevirt/virtual-machine.ts';
import { VirtualMachine, type VirtualMachineStatus } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import { at, aVMDiskImage, start } from '../builders/images.ts';
import { aKubeVirtMachine, aRootDisk, aSecret } from '../builders/machine-children.ts';
import { aVirtualMachine, type MachineOptions } from '../builders/machines.ts';

/** The image machines are on, with a usable snapshot. */
export const aReadyImage = (spec = {}) =>
  aVMDiskImage({
    spec,
    status: {
      phase: 'Succeeded',
      revision: 1,
      snapshot: { name: 'ubuntu-r1', revision: 1, restoreSize: '24Gi' },
      conditions: [{ type: 'Ready', status: 'True', reason: 'SnapshotReady', message: '', lastTransitionTime: at(0) }],
    },
  });

export interface Given extends Partial<Omit<Observed, 'policy'>> {
  policy?: Record<string, string>;
}

/** One look at a machine, and what came of it. Namespace `shared` has networks for all. */
export function reconcile({ policy = {}, ...given }: Given = {}) {
  const observed: Observed = {
    nowMs: start + 10_000,
    policy: parsePolicy({ data: { machineNetworks: 'shared', ...policy } }),
    refusals: new Map(),
    machine: aVirtualMachine(),
    image: aReadyImage(),
    dataVolume: undefined,
    secret: undefined,
    kubeVirtMachine: undefined,
    instance: undefined,
    passwords: new Map(),
    refusedSecrets: new Set(),
    neighbours: undefined,
    networks: { isServed: true, missing: [] },
    missing: [],
    ...given,
  };
  const actions = decide(observed);
  const patch = actions
    .filter((action) => action.do === 'patchStatus')
    .find(({ resource }) => resource === VirtualMachine);
  const status = patch?.status as VirtualMachineStatus | undefined;
  return {
    actions,
    /** "create DataVolume", in order; the status last. */
    writes: actions.filter((action) => 'resource' in action).map((action) => `${action.do} ${action.resource.kind}`),
    status,
    conditions: Object.fromEntries((status?.conditions ?? []).map((one) => [one.type, `${one.status} ${one.reason}`])),
    warnings: actions.filter((action) => action.do === 'recordEvent' && action.type === 'Warning').map(reasonOf),
    machine: observed.machine,
  };
}

const reasonOf = (action: Action) => (action.do === 'recordEvent' ? action.reason : '');

export const madeIn = (actions: readonly Action[], resource: { kind: string; apiVersion: string }) =>
  actions
    .filter((action) => action.do === 'create' || action.do === 'replace')
    .find((action) => action.resource === resource)?.object as
    | { metadata: { name: string }; [field: string]: unknown }
    | undefined;

type DiskSaid = Parameters<typeof aRootDisk>[1];
type MachineSaid = Parameters<typeof aKubeVirtMachine>[1];

type Made = Given & { [K in 'machine' | 'dataVolume' | 'secret' | 'kubeVirtMachine']: NonNullable<Observed[K]> };

/** A machine with everything that was made for it at first, as CDI and KubeVirt show it now, and the status of that first look. */
export function aMadeMachine(
  options: MachineOptions = {},
  { disk, machine: said, ...given }: Omit<Given, 'machine'> & { disk?: DiskSaid; machine?: MachineSaid } = {},
): Made {
  const first = reconcile({ ...given, machine: aVirtualMachine(options) });
  const dataVolume = aRootDisk(madeIn(first.actions, DataVolume), disk);
  const rootDisk = first.status?.rootDisk && { ...first.status.rootDisk, made: dataVolume.metadata.uid };
  const status = { ...first.status, ...(rootDisk ? { rootDisk } : {}), ...options.status };
  return {
    ...given,
    machine: aVirtualMachine({ ...options, status }),
    dataVolume,
    secret: aSecret(madeIn(first.actions, Secret)),
    kubeVirtMachine: aKubeVirtMachine(madeIn(first.actions, KubeVirtMachine), said),
  };
}

/** The machine once that patch of its status has been written. */
export function written(machine: VirtualMachine, patch: object | undefined): VirtualMachine {
  const fields = Object.entries({ ...machine.status, ...patch }).filter(([, value]) => value !== null);
  return VirtualMachine.parse({ ...machine, status: Object.fromEntries(fields) });
}

/** The same machine after its status was written and its spec perhaps changed. */
export const changed = (made: Given & { machine: VirtualMachine }, spec: Partial<VirtualMachine['spec']>) => ({
  ...made,
  machine: {
    ...made.machine,
    spec: { ...made.machine.spec, ...spec },
    metadata: { ...made.machine.metadata, generation: made.machine.metadata.generation + 1 },
  },
});

export const textIn = (secret: unknown, key: string) =>
  Buffer.from((secret as { data?: Record<string, string> })?.data?.[key] ?? '', 'base64').toString();
