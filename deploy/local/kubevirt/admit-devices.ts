import * as z from 'zod';

const Names = z.array(z.looseObject({ name: z.string().default('') })).nullish();

const Spec = z.looseObject({
  domain: z
    .looseObject({ devices: z.looseObject({ disks: Names, filesystems: Names, interfaces: Names }).default({}) })
    .default({ devices: {} }),
  networks: z
    .array(z.looseObject({ name: z.string().default(''), pod: z.unknown().optional(), multus: z.unknown().optional() }))
    .nullish(),
  volumes: Names,
});

const at = 'spec.template.spec';

type Named = { name: string }[] | null | undefined;

/** One message for each of `from` that none of `to` has the name of. */
const unmatched = (from: Named, to: Named, where: string, field = 'name') =>
  (from ?? []).flatMap(({ name }, index) =>
    (to ?? []).some((one) => one.name === name) ? [] : [`${at}.${where}[${index}].${field} '${name}' not found.`],
  );

const repeated = (all: Named, message: (name: string) => string) =>
  (all ?? []).flatMap(({ name }, index) =>
    (all ?? []).findIndex((one) => one.name === name) < index ? [message(name)] : [],
  );

/** What does not fit together among disks and volumes, interfaces and networks, in KubeVirt's words. */
export function deviceProblems(input: Record<string, unknown>): string[] {
  const { domain, networks, volumes } = Spec.parse(input);
  const { disks, filesystems, interfaces } = domain.devices;
  return [
    ...unmatched(disks, volumes, 'domain.devices.disks', 'Name'),
    ...unmatched(volumes, [...(disks ?? []), ...(filesystems ?? [])], 'domain.volumes'),
    ...unmatched(networks, interfaces, 'networks'),
    ...unmatched(interfaces, networks, 'domain.devices.interfaces'),
    ...repeated(
      networks,
      (name) => `Network with name "${name}" already exists, every network must have a unique name`,
    ),
    ...repeated(interfaces, () => 'Only one interface can be connected to one specific network'),
    ...(networks ?? []).flatMap(networkProblems),
  ];
}

function networkProblems({ pod, multus }: { pod?: unknown; multus?: unknown }): string[] {
  if (!pod && !multus) return ['should have a network type'];
  return pod && multus ? ['should have only one network type'] : [];
}
