import type { Network } from '../../shared/kinds/openstack/network.ts';
import type { CinderVolume } from '../../shared/kinds/openstack/volume.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import type { Found, Observed } from './observed.ts';

/** The resource of that name in the project, or why it is not available yet. */
export type Resolved<T> = { name: string } & ({ found: T } | Cause);

export const isFound = <T>(resolved: Resolved<T>): resolved is { name: string; found: T } => 'found' in resolved;

/** The networks by their names in the spec: first the sibling in the namespace, then the project's own of that name. */
export const networksOf = ({ machine, networks }: Observed, found: Found): Resolved<Network>[] =>
  (machine.spec.virtualNetworks ?? []).map((name) => {
    const sibling = networks.find(({ metadata }) => metadata.name === name);
    const candidates = sibling
      ? found.networks.filter(({ id }) => id === sibling.status?.id && sibling.status.ready === true)
      : found.networks.filter((network) => network.name === name);
    const named = oneOf('network', name, sibling, candidates);
    if (!isFound(named) || named.found.subnets.length > 0) return named;
    return { name, reason: 'NetworkWithoutSubnet', message: `network ${name} has no subnet` };
  });

/** The same for volumes. A volume of another server counts as missing. */
export const volumesOf = ({ machine, volumes }: Observed, found: Found): Resolved<CinderVolume>[] =>
  machine.spec.diskAttachments.map(({ name }) => {
    const sibling = volumes.find(({ metadata }) => metadata.name === name);
    const candidates = sibling
      ? found.volumes.filter(({ id }) => id === sibling.status?.id)
      : found.volumes.filter((volume) => volume.name === name);
    const named = oneOf('volume', name, sibling, candidates);
    return isFound(named) ? usable(named, found) : named;
  });

interface Sibling {
  metadata: { deletionTimestamp?: string | undefined };
  status?: { phase?: string | undefined; message?: string | undefined } | undefined;
}

function oneOf<T extends { id: string }>(
  what: 'network' | 'volume',
  name: string,
  sibling: Sibling | undefined,
  candidates: readonly T[],
): Resolved<T> {
  const [first, second] = candidates;
  const word = what === 'network' ? 'Network' : 'Volume';
  if (second) {
    const message = `expected one ${what} ${name} in the project, found ${candidates.length}`;
    return { name, reason: `${word}NotUnique`, message };
  }
  if (first) return { name, found: first };
  if (!sibling) return { name, reason: `${word}Missing`, message: `there is no ${what} ${name}` };
  return {
    name,
    reason: `${word}NotReady`,
    message: `${what} ${name} is ${sibling.status?.phase ?? 'not looked at yet'}`,
  };
}

/** States from which a volume can be attached, or in which it is being attached to us. */
function usable(
  { name, found: volume }: { name: string; found: CinderVolume },
  { servers }: Found,
): Resolved<CinderVolume> {
  const holder = volume.attachments.find(({ server_id }) => server_id !== '')?.server_id;
  const isOurs = servers.some((server) => server.id === holder || hasVolume(server, volume));
  if (isOurs || volume.status === 'available') return { name, found: volume };
  const why = holder ? `server ${holder} has volume ${name}` : `volume ${name} is ${volume.status}`;
  return { name, reason: holder ? 'VolumeInUse' : 'VolumeNotReady', message: why };
}

export const hasVolume = (server: Found['servers'][number], volume: { id: string }) =>
  server['os-extended-volumes:volumes_attached'].some(({ id }) => id === volume.id);

/** All of them in one sentence, the first one's word for it. */
export function obstacleIn<T>(resolved: readonly Resolved<T>[]): Cause | undefined {
  const missing = resolved.filter((one) => !isFound(one)) as Cause[];
  const [first] = missing;
  return first && { reason: first.reason, message: `Waiting: ${missing.map(({ message }) => message).join('; ')}.` };
}
