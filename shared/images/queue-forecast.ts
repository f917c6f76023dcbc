import * as z from 'zod';
import type { Lease } from '../kinds/coordination/lease.ts';

/** On the slot Lease: what is to be expected of an image that is requested now, as of the last audit. start-sync writes it. */
export const forecastAnnotation = 'pelotech.ot/forecast';

/** Of fewer downloads the longest of ten is not known. */
export const enough = 10;

const QueueForecast = z.object({
  /** When it may get a slot; absent if that is at once. */
  startsAt: z.string().optional(),
  /** How many downloads tell, at most `enough`. */
  count: z.number().int().positive(),
  /** The median of the downloads, in milliseconds. */
  downloadMs: z.number().positive(),
  /** Nine of ten downloads took no longer. */
  longMs: z.number().positive(),
  /** From the end of a download to a usable snapshot. */
  snapshotMs: z.number().nonnegative(),
  /** The median of their rates. */
  bytesPerMs: z.number().positive().optional(),
});
export type QueueForecast = z.infer<typeof QueueForecast>;

/** What the Lease says; undefined before any download is done, or where nothing can be read. */
export function forecastIn(lease: Lease | undefined): QueueForecast | undefined {
  try {
    return QueueForecast.safeParse(JSON.parse(lease?.metadata.annotations?.[forecastAnnotation] ?? '')).data;
  } catch {
    return undefined;
  }
}
