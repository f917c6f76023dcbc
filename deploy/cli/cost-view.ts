import { budgetLeft, egressIn, egressSince, formatBudget, mostDays, others } from '../../shared/images/egress.ts';
import { sharesSince } from '../../shared/images/egress-shares.ts';
import { requesterOf } from '../../shared/images/requester.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../shared/kinds/resource.ts';
import { formatQuantity } from '../../shared/kubernetes/quantity.ts';
import type { Look } from '../terminal/paint.ts';
import { tableLines } from '../terminal/table.ts';
import type { Read } from './queue-view.ts';

interface CostRow {
  name: string;
  bytes: number;
  /** In the currency of the policy's egressPricePerGiB; null without one. */
  price: number | null;
  /** No image has this name any more. */
  deleted?: true;
  /** An attempt of it counts with the size of its disk, whatever its source sent. */
  estimated?: true;
}

/** The output of `cost`, for users and for scripts. */
export interface CostView {
  by: 'namespace' | 'image' | 'requester';
  /** null for images since each was made, and what the Lease still has of deleted ones. */
  days: number | null;
  rows: CostRow[];
  total: CostRow;
  budget: { bytes: number; days: number; left: number } | null;
}

interface Asked {
  by: CostView['by'];
  /** As in the view. */
  days: number | null;
  nowMs: number;
}

/** What downloads asked of their sources: as the Lease counted it, or of each existing image since it was made. */
export function costOf(read: Read, { by, days, nowMs }: Asked): CostView {
  const { images, lease, policy } = read;
  const { egressBudget: budget, egressPricePerGiB: price } = policy.values;
  const egress = egressIn(lease);
  const existing = new Set(images.map(({ metadata }) => keyOf(metadata)));
  const isDeleted = (name: string) => by === 'image' && name !== others && !existing.has(name);
  const estimated = new Set(images.filter(isOfUnknownSize).map(nameBy[by]));
  const row = (name: string, bytes: number): CostRow => ({
    name,
    bytes,
    price: price === undefined ? null : Math.round((bytes / 2 ** 30) * price * 100) / 100,
  });
  const rows = [...sumsOf(read, { by, days, nowMs })]
    .map(
      ([name, bytes]): CostRow => ({
        ...row(name, bytes),
        ...(isDeleted(name) ? { deleted: true } : {}),
        ...(estimated.has(name) ? { estimated: true } : {}),
      }),
    )
    .sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
  const sum = rows.reduce((all, { bytes }) => all + bytes, 0);
  const left = budgetLeft(policy, egress, nowMs);
  return {
    by,
    days,
    rows,
    total: { ...row('all', sum), ...(rows.some((one) => one.estimated) ? { estimated: true } : {}) },
    budget: budget && left !== undefined ? { ...budget, left } : null,
  };
}

const nameBy: Readonly<Record<CostView['by'], (image: VMDiskImage) => string>> = {
  namespace: ({ metadata }) => metadata.namespace ?? '',
  image: ({ metadata }) => keyOf(metadata),
  requester: (image) => requesterOf(image).name,
};

/** No inspection knows the size of its source, as of one that cannot be reached. */
const isOfUnknownSize = ({ status }: VMDiskImage) => !!status?.egressBytes && status.source?.bytes === undefined;

function sumsOf({ images, lease }: Read, { by, days, nowMs }: Asked): ReadonlyMap<string, number> {
  if (by === 'namespace') return egressSince(egressIn(lease), days ?? mostDays, nowMs);
  const shares = sharesSince(lease, by, days ?? mostDays, nowMs);
  if (days !== null) return shares;
  // The bytes without a name may be of the existing images, too.
  shares.delete(others);
  return new Map([
    ...shares,
    ...images.map(({ metadata, status }) => [keyOf(metadata), status?.egressBytes ?? 0] as const),
  ]);
}

const titleOf = { namespace: 'NAMESPACE', image: 'IMAGE', requester: 'REQUESTER' } as const;

export function costLines({ by, days, rows, total, budget }: CostView, look: Look): string[] {
  const hasPrice = total.price !== null;
  const titles = [{ title: titleOf[by] }, { title: 'BYTES', align: 'right' as const }];
  const cells = ({ name, bytes, price, deleted, estimated }: CostRow) => [
    deleted ? `${name} (deleted)` : name,
    `${estimated ? '~' : ''}${formatQuantity(bytes)}`,
    ...(price === null ? [] : [price.toFixed(2)]),
  ];
  const what =
    days === null
      ? `by the existing images since each was made, and by deleted ones in the last ${mostDays} days`
      : days === 1
        ? 'today'
        : `in the last ${days} days, including today`;
  return [
    `Bytes requested from sources ${what}; each attempt counts in full.`,
    '',
    ...tableLines(
      [...titles, ...(hasPrice ? [{ title: 'PRICE', align: 'right' as const }] : [])],
      [...rows, total].map(cells),
      look,
    ),
    `${total.estimated ? '~ ' : ''}An attempt whose source has no known size counts with the size of its disk.`,
    ...(budget ? ['', `${formatQuantity(budget.left)} of ${formatBudget(budget)} are left (egressBudget).`] : []),
  ];
}
