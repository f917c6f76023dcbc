import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import type { Image } from '../image/state.ts';
import { Refusal } from '../refusal.ts';
import type { Asked } from '../route.ts';
import { setStatus } from './handle.ts';
import type { Volume } from './state.ts';

const text = z.string().max(255);
const NewVolume = z.object({
  volume: z.looseObject({
    size: z.coerce.number().int().min(1, "expected 'size' to be greater than 0").nullish(),
    name: text.nullable().default(null),
    description: text.nullable().default(null),
    metadata: z.record(z.string().min(1).max(255), z.string().max(255)).default({}),
    imageRef: z.string().nullish(),
    multiattach: z.boolean().default(false),
  }),
});

const gib = 2 ** 30;

/** Begins a volume, empty or from an image (`creating`, `downloading`, `available`); throws a Refusal where it may not. */
export function createVolume(cloud: Cloud, { caller, body }: Asked): Volume {
  const { volume: wanted } = bodyAs(NewVolume, body);
  const size = wanted.size ?? undefined;
  if (size === undefined)
    throw new Refusal(400, "Invalid input received: Volume size '0' must be an integer and greater than 0");
  const image = wanted.imageRef ? imageFor(cloud, wanted.imageRef, size) : undefined;
  checkQuota(cloud, caller.projectId, { volumes: 1, gigabytes: size });
  const nowMs = cloud.clock.now();
  const made: Volume = {
    id: cloud.ids.uuid(),
    name: wanted.name,
    description: wanted.description,
    size,
    status: 'creating',
    bootable: false,
    multiattach: wanted.multiattach,
    metadata: wanted.metadata,
    imageMetadata: undefined,
    attachments: [],
    projectId: caller.projectId,
    userId: caller.userId,
    createdMs: nowMs,
    updatedMs: undefined,
    isPlaced: false,
  };
  cloud.volume.volumes.set(made.id, made);
  cloud.clock.after(cloud.times.createVolume, () => begin(cloud, made.id, image));
  return made;
}

function begin(cloud: Cloud, id: string, image: Image | undefined) {
  if (cloud.volume.volumes.get(id)?.status !== 'creating') return;
  if (cloud.fails('createVolume')) return setStatus(cloud, id, 'error');
  setStatus(cloud, id, image ? 'downloading' : 'available', { isPlaced: true });
  if (image) cloud.clock.after(cloud.times.download, () => fill(cloud, id, image));
}

function fill(cloud: Cloud, id: string, image: Image) {
  const volume = cloud.volume.volumes.get(id);
  if (volume?.status !== 'downloading') return;
  const isTooLarge = (image.virtualSize ?? image.size ?? 0) > volume.size * gib;
  if (cloud.fails('download') || isTooLarge || !cloud.image.images.has(image.id)) return setStatus(cloud, id, 'error');
  setStatus(cloud, id, 'available', {
    bootable: true,
    imageMetadata: {
      container_format: image.containerFormat ?? '',
      disk_format: image.diskFormat ?? '',
      image_id: image.id,
      image_name: image.name ?? '',
      min_disk: String(image.minDisk),
      min_ram: String(image.minRam),
      size: String(image.size ?? 0),
      checksum: image.checksum ?? '',
      signature_verified: 'False',
    },
  });
}

function imageFor({ image: { images } }: Cloud, id: string, size: number): Image {
  const image = images.get(id);
  if (!image) throw new Refusal(400, 'Invalid image identifier or unable to access requested image.');
  if (image.status !== 'active') throw new Refusal(400, `Invalid input received: Image ${id} is not active.`);
  if ((image.size ?? 0) > size * gib)
    throw new Refusal(
      400,
      `Invalid input received: Size of specified image ${Math.ceil((image.size ?? 0) / gib)}GB is larger than volume size ${size}GB.`,
    );
  if ((image.virtualSize ?? 0) > size * gib)
    throw new Refusal(
      400,
      `Image ${id} is unacceptable: Image virtual size is ${Math.ceil((image.virtualSize ?? 0) / gib)}GB and doesn't fit in a volume of size ${size}GB.`,
    );
  if (image.minDisk > size)
    throw new Refusal(
      400,
      `Invalid input received: Volume size ${size}GB cannot be smaller than the image minDisk size ${image.minDisk}GB.`,
    );
  return image;
}

/** What a project uses of its quotas. */
export function usageOf({ volume }: Cloud, project: string) {
  const own = [...volume.volumes.values()].filter(({ projectId }) => projectId === project);
  return { volumes: own.length, gigabytes: own.reduce((sum, { size }) => sum + size, 0) };
}

/** Refuses with 413 what a project has no quota for (cinder 21). */
export function checkQuota(cloud: Cloud, project: string, more: { volumes: number; gigabytes: number }): void {
  const { quotas } = cloud.volume;
  const limits = quotas.of(project);
  const { volumes, gigabytes } = usageOf(cloud, project);
  if (quotas.isOver(project, 'gigabytes', gigabytes, more.gigabytes))
    throw new Refusal(
      413,
      `VolumeSizeExceedsAvailableQuota: Requested volume or snapshot exceeds allowed gigabytes quota. Requested ${more.gigabytes}G, quota is ${limits.gigabytes}G and ${gigabytes}G has been consumed.`,
    );
  if (more.volumes > 0 && quotas.isOver(project, 'volumes', volumes, more.volumes))
    throw new Refusal(
      413,
      `VolumeLimitExceeded: Maximum number of volumes allowed (${limits.volumes}) exceeded for quota 'volumes'.`,
    );
}
