import { toTime } from '../../../../shared/kubernetes/time.ts';
import type { Cloud } from '../cloud.ts';
import type { Image } from './state.ts';

/** An image as Glance shows it: its own fields and, beside them, whatever properties it was given. */
export const shownImage = (_cloud: Cloud, image: Image) => ({
  ...image.properties,
  ...(image.importing !== undefined && {
    os_glance_importing_to_stores: image.importing,
    os_glance_failed_import: image.failedImport,
  }),
  ...(image.sha512 !== null && { stores: 'file' }),
  id: image.id,
  name: image.name,
  status: image.status,
  disk_format: image.diskFormat,
  container_format: image.containerFormat,
  visibility: image.visibility,
  size: image.size,
  virtual_size: image.virtualSize,
  checksum: image.checksum,
  os_hash_algo: image.sha512 === null ? null : 'sha512',
  os_hash_value: image.sha512,
  os_hidden: false,
  min_disk: image.minDisk,
  min_ram: image.minRam,
  protected: image.isProtected,
  owner: image.owner,
  tags: image.tags,
  created_at: toTime(image.createdMs),
  updated_at: toTime(image.updatedMs),
  self: `/v2/images/${image.id}`,
  file: `/v2/images/${image.id}/file`,
  schema: '/v2/schemas/image',
});
