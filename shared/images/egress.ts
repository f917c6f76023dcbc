import type { Lease } from '../kinds/coordination/lease.ts';
import { releasesBudget, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { bytesOf, formatQuantity } from '../kubernetes/quantity.ts';
import type { EgressBudget, Policy } from '../policy.ts';

/** What downloads asked of their sources, in bytes, by day (UTC) and namespace: an annotation of the Lease, written with the slots. */
export type Egress = Readonly<Record<string, Readonly<Record<string, number>>>>;

export const egressAnnotation = 'pelotech.ot/egress';

/** The longest window of a budget, and for how long the Lease remembers. */
export const mostDays = 31;

/** The most namespaces of a day that are counted by name, so that the Lease has room for the slots. */
const mostNamespaces = 20;
export const others = 'others';

/** What the Lease says; nothing where it says nothing that can be read. */
export function egressIn(lease: Lease | undefined, annotation = egressAnnotation): Egress {
  try {
    const days: unknown = JSON.parse(lease?.metadata.annotations?.[annotation] ?? '{}');
    return Object.fromEntries(Object.entries(days as object).filter(([day, sums]) => isDay(day) && isSums(sums)));
  } catch {
    return {};
  }
}

const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text);
const isSums = (sums: unknown) =>
  typeof sums === 'object' && sums !== null && Object.values(sums).every((bytes) => Number.isSafeInteger(bytes));

/** What one attempt asks of its source at most: its size as inspected, or that of the disk; a clone of another image's snapshot nothing. */
export const bytesOfAttempt = ({ spec, status }: Pick<VMDiskImage, 'spec' | 'status'>) =>
  status?.sharedFrom ? 0 : (status?.source?.bytes ?? bytesOf(spec.diskSize) ?? 0);

const dayMs = 24 * 3_600_000;
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The first day of a window of `days` that ends with today. */
const firstDay = (days: number, nowMs: number) => dayOf(nowMs - (days - 1) * dayMs);

/** The sum of each name over the last `days` days, including today. */
export function egressSince(egress: Egress, days: number, nowMs: number): Map<string, number> {
  const from = firstDay(days, nowMs);
  const sums: Sums = new Map();
  for (const [day, byName] of Object.entries(egress))
    if (day >= from) for (const [name, bytes] of Object.entries(byName)) addBytes(sums, name, bytes);
  return sums;
}

/** The sum of all of them. */
export const bytesSince = (egress: Egress, days: number, nowMs: number) =>
  [...egressSince(egress, days, nowMs).values()].reduce((sum, bytes) => sum + bytes, 0);

/** The egress after attempts of these images begin. */
export const egressWith = (egress: Egress, images: readonly VMDiskImage[], nowMs: number) =>
  withToday(egress, nowMs, (sums) => {
    for (const image of images) {
      const { namespace = '' } = image.metadata;
      const isCounted = sums.has(namespace) || sums.size < mostNamespaces;
      addBytes(sums, isCounted ? namespace : others, bytesOfAttempt(image));
    }
    return sums;
  });

/** The egress with other sums of today; days that no budget asks for any more are gone. */
export function withToday(egress: Egress, nowMs: number, after: (sums: Sums) => Sums): Egress {
  const [today, from] = [dayOf(nowMs), firstDay(mostDays, nowMs)];
  const sums = after(new Map(Object.entries(egress[today] ?? {})));
  const kept = Object.entries(egress).filter(([day]) => day >= from && day !== today);
  return Object.fromEntries([...kept, ...(sums.size > 0 ? [[today, Object.fromEntries(sums)] as const] : [])]);
}

type Sums = Map<string, number>;

export const addBytes = (sums: Sums, name: string, bytes: number) =>
  sums.set(name, Math.min(Number.MAX_SAFE_INTEGER, (sums.get(name) ?? 0) + bytes));

/** "500Gi in 30 days" */
export const formatBudget = ({ bytes, days }: EgressBudget) =>
  `${formatQuantity(bytes)} in ${days} ${days === 1 ? 'day' : 'days'}`;

/** What the policy's budget leaves; undefined without one. */
export function budgetLeft({ values }: Policy, egress: Egress, nowMs: number): number | undefined {
  const budget = values.egressBudget;
  if (!budget) return undefined;
  return Math.max(0, budget.bytes - bytesSince(egress, budget.days, nowMs));
}

/** An admin lets this image download although the budget is spent: in an image namespace only, where admins decide who creates images. */
export const ignoresBudget = ({ metadata }: Pick<VMDiskImage, 'metadata'>, { values }: Policy) =>
  metadata.annotations?.[releasesBudget] === 'true' && values.imageNamespaces.includes(metadata.namespace ?? '');

/** The next images that may begin: each while the budget is not spent, so that at most one image exceeds it. */
export function withinBudget(
  images: readonly VMDiskImage[],
  policy: Policy,
  egress: Egress,
  nowMs: number,
): VMDiskImage[] {
  let left = budgetLeft(policy, egress, nowMs) ?? Number.POSITIVE_INFINITY;
  return images.filter((image) => {
    if (left <= 0 && !ignoresBudget(image, policy)) return false;
    left -= bytesOfAttempt(image);
    return true;
  });
}

/** The day (UTC) from which on something of a spent budget is left, if nothing else downloads. */
export function budgetBackOn(policy: Policy, egress: Egress, nowMs: number): string {
  const days = Array.from({ length: mostDays + 1 }, (_, index) => nowMs + index * dayMs);
  return dayOf(days.find((ms) => budgetLeft(policy, egress, ms) !== 0) ?? nowMs);
}
