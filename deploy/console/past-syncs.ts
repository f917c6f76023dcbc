import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { PastSync } from './view.ts';

const resultOf: Readonly<Record<string, PastSync['result']>> = {
  // The download is done, and its slot is free; what becomes of the snapshot is another matter.
  Snapshotting: 'Succeeded',
  Succeeded: 'Succeeded',
  Retrying: 'Retrying',
  Failed: 'Failed',
  Queued: 'Queued',
};

/** The downloads of an image that are over, the earliest first: each from the fact that it began to the next fact. */
export function pastSyncsOf({ status }: Pick<VMDiskImage, 'status'>): PastSync[] {
  const history = status?.history ?? [];
  return history.flatMap(({ time, fact, revision = 0, bytes }, index) => {
    const end = history[index + 1];
    const result = end && resultOf[end.fact];
    if (fact !== 'Syncing' || !end || !result) return [];
    const [fromMs, toMs] = [Date.parse(time), Date.parse(end.time)];
    return toMs >= fromMs ? [{ fromMs, toMs, result, revision, bytes, message: end.message }] : [];
  });
}
