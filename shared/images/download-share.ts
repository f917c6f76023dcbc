import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

/** How much of an image's download is done, from 0 to 1, as its status says; undefined where it tells nothing of it. */
export function downloadShareOf(image: Pick<VMDiskImage, 'status'> | undefined): number | undefined {
  const { phase, progress = '' } = image?.status ?? {};
  if (phase === 'Snapshotting') return 1;
  const percent = Number.parseFloat(progress);
  return phase === 'Syncing' && Number.isFinite(percent) ? Math.min(1, percent / 100) : undefined;
}
