import type { DataVolume } from '../kinds/cdi/data-volume.ts';
import type { VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { dataVolumeName } from './children.ts';

/** The name of the DataVolume of the image's newest attempt. */
export const currentName = ({ metadata, status }: VMDiskImage) =>
  dataVolumeName(metadata, status?.revision ?? 1, status?.attempt ?? 1);

/** That DataVolume, unless it is being deleted. */
export const currentVolume = (image: VMDiskImage, dataVolumes: readonly DataVolume[]) =>
  dataVolumes.find(({ metadata }) => metadata.name === currentName(image) && !metadata.deletionTimestamp);

/** It holds the whole download, whatever a user made of the status. */
export const hasFinishedVolume = (image: VMDiskImage, dataVolumes: readonly DataVolume[]) =>
  currentVolume(image, dataVolumes)?.status?.phase === 'Succeeded';
