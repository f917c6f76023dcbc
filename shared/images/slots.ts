import * as z from 'zod';
import type { Lease } from '../kinds/coordination/lease.ts';
import { operatorNamespace } from '../operator.ts';

/** The Lease that holds the sync slots of the whole cluster; start-sync alone writes it. */
export const leaseName = 'sync-slots';
export const leaseRef = { namespace: operatorNamespace, name: leaseName };
export const slotsAnnotation = 'pelotech.ot/slots';

/** After the Lease was lost nothing is granted for this long: a reconcile under way may still be about to start a sync. */
export const defaultGracePeriodMs = 10_000;

export const Holder = z.object({
  uid: z.string().min(1),
  /** namespace/name, for users; empty if the Lease has no room for it. */
  image: z.string(),
  revision: z.number().int().nonnegative(),
  attempt: z.number().int().positive(),
  since: z.string(),
});
export type Holder = z.infer<typeof Holder>;

const Holders = z.array(Holder).max(2000);

/** The holders of slots; undefined if the Lease is missing or not readable. */
export function holdersOf(lease: Lease | undefined): Holder[] | undefined {
  const text = lease?.metadata.annotations?.[slotsAnnotation];
  if (text === undefined) return undefined;
  try {
    const parsed = Holders.safeParse(JSON.parse(text));
    if (!parsed.success) return undefined;
    const uids = new Set(parsed.data.map(({ uid }) => uid));
    return uids.size === parsed.data.length ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** The API server refuses an object with more than 256 KiB of annotations. The rest is room for the annotations of others. */
const mostBytes = 240 * 1024;

/**
 * The holders as the Lease stores them beside these annotations. If not all names fit, the last ones are left out: the uid identifies a
 * holder.
 */
export function serializeHolders(holders: readonly Holder[], beside: Readonly<Record<string, string>> = {}): string {
  const taken = Object.entries(beside).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  let room = mostBytes - taken - JSON.stringify(holders.map((holder) => ({ ...holder, image: '' }))).length;
  return JSON.stringify(
    holders.map((holder) => {
      room -= holder.image.length;
      return room < 0 ? { ...holder, image: '' } : holder;
    }),
  );
}

/** The namespace of an image that holds a slot; empty if the Lease has no room for it. */
const namespaceOf = ({ image }: Pick<Holder, 'image'>) => image.split('/')[0] ?? '';

/** How many more slots images of this namespace may hold; without `slotsPerNamespace` of the policy any number. */
export const freeFor = (
  namespace: string | undefined,
  holders: readonly Pick<Holder, 'image'>[],
  slotsPerNamespace = Number.POSITIVE_INFINITY,
) => Math.max(0, slotsPerNamespace - holders.filter((holder) => namespaceOf(holder) === namespace).length);

/** How many slots are free, at least 0: a lowered limit ends no download. */
export const freeIn = (holders: readonly unknown[], concurrency: number) => Math.max(0, concurrency - holders.length);
