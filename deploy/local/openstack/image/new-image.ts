import * as z from 'zod';
import type { Cloud } from '../cloud.ts';
import type { Image } from './state.ts';

const diskFormats = ['ami', 'ari', 'aki', 'vhd', 'vhdx', 'vmdk', 'raw', 'qcow2', 'vdi', 'iso', 'ploop'] as const;
const containerFormats = ['ami', 'ari', 'aki', 'bare', 'ovf', 'ova', 'docker', 'compressed'] as const;
/** The attributes of a new image; any other field becomes one of its properties. */
export const NewImage = z
  .object({
    id: z.uuid().optional(),
    name: z.string().max(255).nullable().default(null),
    disk_format: z.enum(diskFormats).nullable().default(null),
    container_format: z.enum(containerFormats).nullable().default(null),
    visibility: z.enum(['public', 'private', 'shared', 'community']).default('shared'),
    min_disk: z.number().int().min(0).default(0),
    min_ram: z.number().int().min(0).default(0),
    protected: z.boolean().default(false),
    tags: z.array(z.string().max(255)).default([]),
  })
  .catchall(z.string());

/** An image that waits for its bytes. */
export function newImage(cloud: Cloud, owner: string, wanted: z.infer<typeof NewImage>): Image {
  const {
    id,
    name,
    disk_format,
    container_format,
    visibility,
    min_disk,
    min_ram,
    tags,
    protected: isProtected,
    ...properties
  } = wanted;
  const nowMs = cloud.clock.now();
  return {
    id: id ?? cloud.ids.uuid(),
    name,
    status: 'queued',
    diskFormat: disk_format,
    containerFormat: container_format,
    visibility,
    size: null,
    virtualSize: null,
    checksum: null,
    sha512: null,
    minDisk: min_disk,
    minRam: min_ram,
    isProtected,
    owner,
    members: {},
    tags: tags.toSorted(),
    properties: properties as Record<string, string>,
    failedImport: undefined,
    importing: undefined,
    createdMs: nowMs,
    updatedMs: nowMs,
  };
}
