import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

/** Selects the images whose sources are looked at again. */
export const refreshed = 'spec.refresh!=';

/** The source was found changed while the image had this revision, and another one is to be downloaded. */
export const isSourceReplaced = ({ status }: VMDiskImage) =>
  status?.source?.changed !== undefined && status.source.changed.revision === status.revision;
