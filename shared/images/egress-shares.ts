import type { Lease } from '../kinds/coordination/lease.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../kinds/resource.ts';
import {
  addBytes,
  bytesOfAttempt,
  bytesSince,
  type Egress,
  egressAnnotation,
  egressIn,
  egressSince,
  egressWith,
  others,
  withToday,
} from './egress.ts';
import { requesterOf } from './requester.ts';

/** Whose the bytes of the egress were: beside the sums that the budget is held to, the largest shares of each day by name. */
interface Share {
  annotation: string;
  nameOf: (image: VMDiskImage) => string;
}

const shares = {
  requester: { annotation: 'pelotech.ot/egress-by-requester', nameOf: (image) => requesterOf(image).name },
  image: { annotation: 'pelotech.ot/egress-by-image', nameOf: ({ metadata }) => keyOf(metadata) },
} as const satisfies Record<string, Share>;
export type ShareBy = keyof typeof shares;

/** The most names of a day that is over. */
const mostNames = 10;

/** The most names of the last day: a name that falls out begins at zero again, so one that begins often must not. */
const mostNamesOfLast = 50;

/** The most characters of one annotation. A month of names of usual length has 16,000; long names are kept for fewer days. */
const mostCharacters = 16 * 1024;

/** The annotations of the Lease after attempts of these images begin. */
export function egressAnnotationsWith(lease: Lease | undefined, images: readonly VMDiskImage[], nowMs: number) {
  const annotations: Record<string, string> = {
    [egressAnnotation]: JSON.stringify(egressWith(egressIn(lease), images, nowMs)),
  };
  for (const { annotation, nameOf } of Object.values<Share>(shares))
    annotations[annotation] = formatShares(sharesWith(egressIn(lease, annotation), images, nowMs, nameOf));
  return annotations;
}

const sharesWith = (egress: Egress, images: readonly VMDiskImage[], nowMs: number, nameOf: Share['nameOf']) =>
  withToday(egress, nowMs, (sums) => {
    for (const image of images) {
      const bytes = bytesOfAttempt(image);
      if (bytes > 0) addBytes(sums, nameOf(image), bytes);
    }
    return sums;
  });

/** Where they do not fit, without the smallest of the last day, down to the number that another has, then without the earliest days. */
function formatShares(egress: Egress): string {
  const days = Object.entries(egress)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([day, sums], index, { length }) => {
      const most = index === length - 1 ? mostNamesOfLast : mostNames;
      return {
        day,
        sums: Object.entries(sums)
          .sort(([, a], [, b]) => b - a)
          .slice(0, most),
      };
    });
  const text = () => JSON.stringify(Object.fromEntries(days.map(({ day, sums }) => [day, Object.fromEntries(sums)])));
  const last = days.at(-1)?.sums ?? [];
  while (text().length > mostCharacters) {
    if (last.length > mostNames) last.pop();
    else days.shift();
  }
  return text();
}

/** The shares of the last `days` days by name, and of all that the Lease has no name for. */
export function sharesSince(lease: Lease | undefined, by: ShareBy, days: number, nowMs: number): Map<string, number> {
  const named = egressIn(lease, shares[by].annotation);
  const sums = egressSince(named, days, nowMs);
  const rest = bytesSince(egressIn(lease), days, nowMs) - bytesSince(named, days, nowMs);
  return rest > 0 ? sums.set(others, rest) : sums;
}
