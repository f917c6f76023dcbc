import { shortHash } from '../../shared/kubernetes/names.ts';
import { parseCidr } from '../../shared/machines/ip-address.ts';

/** How many /24 networks 10.0.0.0/8 has. */
const places = 65_536;

/**
 * A 10.x.y.0/24 that overlaps with none of the project's networks: the same one for the same network while nothing else changes,
 * so that a repeated reconcile chooses the same. Undefined if all 65,536 are taken.
 */
export function freeCidr(uid: string, taken: readonly string[]): string | undefined {
  const isTaken = new Uint8Array(places);
  for (const text of taken) isTaken.fill(1, ...placesOf(text));
  const first = Number.parseInt(shortHash(uid), 16) % places;
  const after = isTaken.indexOf(0, first);
  const place = after < 0 ? isTaken.indexOf(0) : after;
  return place < 0 ? undefined : `10.${place >> 8}.${place & 255}.0/24`;
}

/** From which place to before which a network lies in 10.0.0.0/8. */
function placesOf(text: string): [from: number, to: number] {
  const cidr = parseCidr(text);
  if (cidr?.version !== 4) return [0, 0];
  const hosts = BigInt(32 - cidr.length);
  const from = ((cidr.address >> hosts) << hosts) - (10n << 24n);
  const to = from + (1n << hosts);
  const inside = (address: bigint) => Number(address < 0n ? 0n : address > 1n << 24n ? 1n << 24n : address);
  return [inside(from) >> 8, (inside(to) + 255) >> 8];
}
