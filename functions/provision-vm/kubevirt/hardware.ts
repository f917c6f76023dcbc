import { hardwareKinds } from '../../../shared/kinds/kubevirt/hardware.ts';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';

export type MatcherField = keyof typeof hardwareKinds;
export const matcherFields = Object.keys(hardwareKinds) as readonly MatcherField[];

/** What KubeVirt gets of them, beside the template. */
export const matchersOf = ({ spec }: VirtualMachine): Partial<Record<MatcherField, { kind: string; name: string }>> =>
  Object.fromEntries(
    matcherFields.flatMap((field) => {
      const name = spec[field];
      return name === undefined ? [] : [[field, { kind: hardwareKinds[field].kind, name }]];
    }),
  );

/**
 * A whole number of cores is given to the guest; of a fraction it gets the cores, and so much of their time. What a preference requires is counted in
 * the topology that it prefers, and all of KubeVirt's own count sockets, or the product (kubevirt, pkg/instancetype/preference/requirements/cpu.go).
 */
export function computeOf({ spec: { resources = {}, instancetype, preference } }: VirtualMachine) {
  if (instancetype !== undefined) {
    return {
      cpu: { cores: null, sockets: null, threads: null },
      memory: { guest: null },
      resources: { requests: { cpu: null }, limits: { cpu: null } },
    };
  }
  const { cpu = '1', memory } = resources;
  const milli = cpu.endsWith('m') ? Number(cpu.slice(0, -1)) : Number(cpu) * 1000;
  const share = milli % 1000 === 0 ? null : cpu;
  const count = Math.max(1, Math.ceil(milli / 1000));
  return {
    cpu: preference === undefined ? { cores: count } : { cores: 1, sockets: count },
    memory: { guest: memory },
    resources: { requests: { cpu: share }, limits: { cpu: share } },
  };
}

/** KubeVirt refuses Secure Boot without SMM (kubevirt, pkg/virt-api/webhooks/validating-webhook/admitters/vmi-create-admitter.go). */
export function firmwareOf({ spec: { firmware } }: VirtualMachine) {
  if (!firmware) return {};
  const { bootloader, secureBoot = false } = firmware;
  return {
    firmware: { bootloader: bootloader === 'efi' ? { efi: { secureBoot }, bios: null } : { bios: {}, efi: null } },
    ...(secureBoot ? { features: { smm: { enabled: true } } } : {}),
  };
}

/** A disk without a bus has that of the preference (kubevirt, pkg/instancetype/preference/apply/disk.go), else SATA (pkg/defaults/amd64.go). */
export const diskTargetOf = ({ spec: { diskBus, preference } }: VirtualMachine) => {
  const bus = diskBus ?? (preference === undefined ? 'virtio' : undefined);
  return bus === undefined ? {} : { bus };
};

/** `enabled: false` overrides a preference. */
export const tpmOf = ({ spec: { tpm } }: VirtualMachine) =>
  tpm === undefined ? {} : { tpm: tpm ? {} : { enabled: false } };
