import { shortHash } from '../../shared/kubernetes/names.ts';
import { isInNetworkOf, parseCidr } from '../../shared/machines/ip-address.ts';

/**
 * A 10.x.y.0/24 that overlaps with none of the project's networks: the same one for the same network while nothing else changes,
 * so that a repeated pass chooses the same. Undefined if all 65,536 are taken.
 */
export function freeCidr(uid: string, taken: readonly string[]): string | undefined {
  const others = taken.map(parseCidr).filter((cidr) => cidr !== undefined);
  const first = Number.parseInt(shortHash(uid), 16);
  for (let step = 0; step < 65_536; step++) {
    const place = (first + step) % 65_536;
    const text = `10.${place >> 8}.${place & 255}.0/24`;
    const cidr = parseCidr(text);
    if (cidr && !others.some((other) => isInNetworkOf(other, cidr) || isInNetworkOf(cidr, other))) return text;
  }
  return undefined;
}
