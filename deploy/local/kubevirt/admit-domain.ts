import * as z from 'zod';

const Probe = z
  .looseObject({ httpGet: z.unknown(), tcpSocket: z.unknown(), exec: z.unknown(), guestAgentPing: z.unknown() })
  .partial()
  .nullish();
const Device = z.looseObject({ bus: z.string().default('') }).nullish();
const Switch = z.looseObject({ enabled: z.boolean().default(true) }).nullish();

const Spec = z.looseObject({
  readinessProbe: Probe,
  livenessProbe: Probe,
  networks: z.array(z.looseObject({ pod: z.unknown().optional() })).nullish(),
  domain: z
    .looseObject({
      devices: z
        .looseObject({ disks: z.array(z.looseObject({ disk: Device, cdrom: Device, lun: Device })).nullish() })
        .default({ disks: [] }),
      firmware: z
        .looseObject({
          bootloader: z
            .looseObject({
              bios: z.looseObject({}).nullish(),
              efi: z.looseObject({ secureBoot: z.boolean().default(true) }).nullish(),
            })
            .nullish(),
        })
        .nullish(),
      features: z.looseObject({ smm: Switch }).nullish(),
    })
    .default({ devices: { disks: [] } }),
});
type Spec = z.infer<typeof Spec>;

const at = 'spec.template.spec';

/**
 * What is wrong with a machine's probes, buses and firmware, in KubeVirt's words (kubevirt, pkg/virt-api/webhooks/validating-webhook/admitters/
 * vmi-create-admitter.go validateProbe, validateBootloader, validateDomainSpec; pkg/storage/admitters/disks.go validateBusSupport).
 */
export function domainProblems(input: Record<string, unknown>): string[] {
  const spec = Spec.parse(input);
  return [
    ...probeProblems('readinessProbe', spec),
    ...probeProblems('livenessProbe', spec),
    ...busProblems(spec),
    ...bootProblems(spec),
  ];
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

function probeProblems(name: 'readinessProbe' | 'livenessProbe', { [name]: probe, networks }: Spec): string[] {
  if (!probe) return [];
  const { httpGet, tcpSocket, exec, guestAgentPing } = probe;
  const field = `${at}.${name}`;
  const given = [httpGet, tcpSocket, exec, guestAgentPing].filter(isGiven).length;
  const hasPods = networks?.some(({ pod }) => isGiven(pod)) ?? true;
  const overPods = hasPods ? [] : Object.entries({ httpGet, tcpSocket }).filter(([, handler]) => isGiven(handler));
  return [
    ...(given > 1 ? [`${field} must have exactly one probe type set`] : []),
    ...(given < 1
      ? [`either ${field}.tcpSocket, ${field}.exec or ${field}.httpGet must be set if a ${field} is specified`]
      : []),
    ...overPods.map(([handler]) => `${field}.${handler} is only allowed if the Pod Network is attached`),
  ];
}

const buses = ['virtio', 'scsi', 'sata', 'usb'];

const busProblems = ({ domain }: Spec): string[] =>
  (domain.devices.disks ?? []).flatMap(({ disk, lun, cdrom }, index) => {
    const bus = (disk ?? lun ?? cdrom)?.bus ?? '';
    if (bus === 'ide') return ['IDE bus is not supported'];
    if (bus === 'virtio' && !disk && !lun) return [`Bus type ${bus} is invalid for CD-ROM device`];
    if (bus === '' || buses.includes(bus)) return [];
    const field = `${at}.domain.devices.disks[${index}]`;
    return [`${field} is set with an unrecognized bus ${bus}, must be one of: [${buses.join(' ')}]`];
  });

function bootProblems({ domain: { firmware, features } }: Spec): string[] {
  const { bios, efi } = firmware?.bootloader ?? {};
  const hasSmm = features?.smm?.enabled ?? false;
  return [
    ...(bios && efi
      ? [`${at}.domain.firmware.bootloader has both EFI and BIOS configured, but they are mutually exclusive.`]
      : []),
    ...(efi?.secureBoot && !hasSmm
      ? [`${at}.domain has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.`]
      : []),
  ];
}
