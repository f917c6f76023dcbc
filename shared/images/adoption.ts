import { adoptSnapshot, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

const longestName = 253;

/** The VolumeSnapshot that the image is to take over in place of a download, as its annotation names it. */
export const adopteeOf = ({ metadata }: VMDiskImage): string | undefined =>
  metadata.annotations?.[adoptSnapshot]?.trim().slice(0, longestName) || undefined;

/** The revision of the image is no download: a VolumeSnapshot is taken over in place of it. */
export const isAdopted = ({ status }: Pick<VMDiskImage, 'status'>) =>
  status?.adoption !== undefined && status.adoption.revision === status.revision;

/** The image waits for that VolumeSnapshot. */
export const isAdopting = (image: VMDiskImage) => image.status?.phase === 'Snapshotting' && isAdopted(image);
