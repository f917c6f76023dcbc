import { type Calls, countOf, isRead } from './calls.ts';
import type { SyncRun } from './sync-run.ts';

/** What the writes of one kind come to for each image. */
export interface WriteCost {
  function: string;
  /** `patch vmdiskimages.pelotech.ot/status`. */
  what: string;
  part: Part;
  perImage: number;
}

/**
 * Where a write belongs: to the way from creation to Succeeded, which is what an image may cost; to what comes after;
 * apart from both, Kubernetes Events and progress; or nowhere, because the API server refused it (mostly conflicts).
 */
export type Part = 'to Succeeded' | 'after Succeeded' | 'progress' | 'Events' | 'refused';

/** What the functions wrote in a run, for each image. */
export function writeCosts({ calls, images, progressWrites }: Pick<SyncRun, 'calls' | 'images' | 'progressWrites'>) {
  const writes = calls.filter((call) => !isRead(call) && call.count > 0);
  return writes.flatMap((call): WriteCost[] => {
    const isProgress = call.isDone && call.function === 'follow-sync' && call.resource === statusOfImages;
    const told = isProgress ? progressWrites : 0;
    const cost = { function: call.function, what: `${call.verb} ${call.resource}` };
    return [
      { ...cost, part: partOf(call), perImage: (call.count - told) / images },
      ...(told > 0 ? [{ ...cost, part: 'progress' as const, perImage: told / images }] : []),
    ];
  });
}

export const writesPerImage = (costs: readonly WriteCost[], part: Part) =>
  costs.filter((cost) => cost.part === part).reduce((sum, { perImage }) => sum + perImage, 0);

/** Reads for each image, whatever they were for. */
export const readsPerImage = ({ calls, images }: Pick<SyncRun, 'calls' | 'images'>) =>
  countOf(calls.filter(isRead)) / images;

const statusOfImages = 'vmdiskimages.pelotech.ot/status';

function partOf({ isDone, function: writer, verb, resource }: Calls): Part {
  if (!isDone) return 'refused';
  if (resource === 'events') return 'Events';
  // Here the images are unused: an unused one is counted (count-refs), and its source volume deleted, once it Succeeded.
  return verb === 'delete' || writer === 'count-refs' ? 'after Succeeded' : 'to Succeeded';
}
