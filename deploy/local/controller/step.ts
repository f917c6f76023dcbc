import { isRefusal } from '../../../shared/runtime/errors.ts';
import type { Again } from './work-queue.ts';
import type { Write } from './write.ts';

/** What comes next about an object: writes, and when there is more to do if nothing else happens. */
export interface Step {
  writes: Write[];
  waitMs?: number | undefined;
}

interface Performer {
  perform(writes: readonly Write[]): Promise<void>;
  timings: { tickMs: number };
}

/** Performs a step and tells when its object wants another look; `refused` tells what else to write where the API server refuses it. */
export async function performStep(
  { perform, timings }: Performer,
  { writes, waitMs }: Step,
  refused: (message: string) => Write[] = () => [],
): Promise<Again> {
  try {
    await perform(writes);
  } catch (error) {
    if (isRefusal(error)) await perform(refused(error.message));
    throw error;
  }
  if (writes.length > 0) return { holdMs: timings.tickMs };
  return waitMs === undefined ? undefined : { requeueAfterMs: Math.max(1, waitMs) };
}

/** The shortest of the times that there are. */
export function soonest(...timesMs: (number | undefined)[]): number | undefined {
  const known = timesMs.filter((ms) => ms !== undefined);
  return known.length > 0 ? Math.min(...known) : undefined;
}
