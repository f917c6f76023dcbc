import * as z from 'zod';
import { isLarger } from '../../../shared/kubernetes/quantity.ts';

const Size = z.looseObject({ guest: z.union([z.string(), z.number()]).optional() });

/** A VirtualMachineClusterInstancetype, as far as it decides whether a machine may be. */
const Instancetype = z.looseObject({
  spec: z.looseObject({ cpu: z.looseObject({ guest: z.number() }), memory: Size }),
});

/** A VirtualMachineClusterPreference, likewise, and what it puts where a template leaves it open. */
const Preference = z.looseObject({
  spec: z.looseObject({
    cpu: z.looseObject({ preferredCPUTopology: z.string().optional() }).optional(),
    devices: z
      .looseObject({ preferredDiskBus: z.string().optional(), preferredTPM: z.looseObject({}).optional() })
      .optional(),
    firmware: z.looseObject({ preferredEfi: z.looseObject({}).optional() }).optional(),
    features: z.looseObject({ preferredSmm: z.looseObject({}).optional() }).optional(),
    requirements: z
      .looseObject({ cpu: z.looseObject({ guest: z.number() }).optional(), memory: Size.optional() })
      .optional(),
  }),
});

const Domain = z.looseObject({
  cpu: z.looseObject({ sockets: z.number(), cores: z.number(), threads: z.number() }).partial().nullish(),
  memory: z.looseObject({ guest: z.string().optional() }).nullish(),
  resources: z
    .looseObject({
      requests: z.record(z.string(), z.unknown()).nullish(),
      limits: z.record(z.string(), z.unknown()).nullish(),
    })
    .nullish(),
  firmware: z.looseObject({ bootloader: z.looseObject({}).nullish() }).nullish(),
  features: z.looseObject({}).nullish(),
});

const Spec = z.looseObject({ domain: Domain.default({}) });

/** Finds the object that a machine names in `preference` or `instancetype`; undefined if it does not exist. */
export type FindHardware = (field: 'preference' | 'instancetype', name: string) => Promise<unknown>;

interface Named {
  preference?: { name?: string | undefined } | null | undefined;
  instancetype?: { name?: string | undefined } | null | undefined;
}

/**
 * What of a machine's size is at odds with its instancetype or too little for its preference, in KubeVirt's words; and its template as the preference
 * completes it, which is what else is looked at. An object that is not found is ignored (kubevirt, pkg/instancetype/webhooks/vm/admitter.go; apply/cpu.go
 * and memory.go; preference/requirements/cpu.go and memory.go; preference/apply/firmware.go).
 */
export async function withHardware(
  { preference: preferred, instancetype: typed }: Named,
  template: Record<string, unknown>,
  find: FindHardware,
) {
  const found = async (field: 'preference' | 'instancetype', name: string | undefined) =>
    name ? find(field, name) : undefined;
  const instancetype = Instancetype.safeParse(await found('instancetype', typed?.name)).data?.spec;
  const preference = Preference.safeParse(await found('preference', preferred?.name)).data?.spec;
  const { domain } = Spec.parse(template);
  const conflicts = instancetype ? conflictsOf(domain) : [];
  if (conflicts.length > 0 || !preference) return { problems: conflicts, template };
  const lacks = lackOf(preference, instancetype, domain);
  return {
    problems: lacks ? [`failure checking preference requirements: ${lacks}`] : [],
    template: { ...template, domain: completed(domain, preference) },
  };
}

function conflictsOf({ cpu, memory, resources }: z.infer<typeof Domain>): string[] {
  const fields = [
    ...(['requests', 'limits'] as const).flatMap((kind) =>
      resources?.[kind]?.cpu === undefined ? [] : [`domain.resources.${kind}.cpu`],
    ),
    ...(['sockets', 'cores', 'threads'] as const).flatMap((count) => (cpu?.[count] ? [`domain.cpu.${count}`] : [])),
    ...(memory?.guest === undefined ? [] : ['domain.memory.guest']),
  ];
  return fields.map((field) => `VM field(s) spec.template.spec.${field} conflicts with selected instance type`);
}

type PreferenceSpec = z.infer<typeof Preference>['spec'];

function lackOf(
  { requirements, cpu: preferred }: PreferenceSpec,
  instancetype: z.infer<typeof Instancetype>['spec'] | undefined,
  { cpu, memory }: z.infer<typeof Domain>,
): string | undefined {
  const needed = requirements?.cpu?.guest ?? 0;
  if (instancetype && instancetype.cpu.guest < needed)
    return `insufficient CPU resources of ${instancetype.cpu.guest} vCPU provided by instance type, preference requires ${needed} vCPU`;
  const counted = countedIn(preferred?.preferredCPUTopology);
  const given = counted.reduce((product, count) => product * (cpu?.[count] ?? 1), 1);
  if (!instancetype && given < needed)
    return `insufficient CPU resources of ${given} vCPU provided by VirtualMachine, preference requires ${needed} vCPU provided as ${counted.join(', ')}`;
  const least = String(requirements?.memory?.guest ?? '0');
  const has = String(instancetype?.memory.guest ?? memory?.guest ?? '0');
  const by = instancetype ? 'instance type' : 'VirtualMachine';
  return isLarger(least, has)
    ? `insufficient Memory resources of ${has} provided by ${by}, preference requires ${least}`
    : undefined;
}

function countedIn(topology = 'sockets'): readonly ('sockets' | 'cores' | 'threads')[] {
  const [, name = topology] = /^prefer(.+)$/.exec(topology) ?? [];
  const word = name.toLowerCase();
  if (word === 'cores' || word === 'threads') return [word];
  return word === 'sockets' ? ['sockets'] : word === 'any' ? ['cores', 'sockets', 'threads'] : ['sockets', 'cores'];
}

/** As far as it decides whether the machine may be: the firmware, and what Secure Boot needs. */
const completed = (domain: z.infer<typeof Domain>, { firmware, features }: PreferenceSpec) => ({
  ...domain,
  ...(firmware?.preferredEfi && !domain.firmware?.bootloader
    ? { firmware: { ...domain.firmware, bootloader: { efi: firmware.preferredEfi } } }
    : {}),
  ...(features?.preferredSmm ? { features: { smm: features.preferredSmm, ...domain.features } } : {}),
});
