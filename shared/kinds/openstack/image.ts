import * as z from 'zod';
import { queryOf, requestTo, step } from './request.ts';

/** What a volume is filled from, in Glance. */
export const GlanceImage = z.object({
  id: z.string(),
  name: z.string().nullable().default(''),
  status: z.string(),
  /** Bytes that the disk needs at least. */
  virtual_size: z.number().nullable().default(null),
  size: z.number().nullable().default(null),
  /** Set by a failed download: the image returns to queued, and no status reports it (glance 25). */
  os_glance_failed_import: z.string().default(''),
  os_glance_importing_to_stores: z.string().nullable().default(''),
  kupenstack_uid: z.string().optional(),
  /** The project whose image it is. */
  owner: z.string().nullable().default(null),
  visibility: z.string().default('private'),
});
export type GlanceImage = z.infer<typeof GlanceImage>;

const request = requestTo('image');

/** What images are asked for by. */
type By = { name: string } | { id: string } | { uid: string; owner: string } | { owner: string };

/** The images of that name, id or owning project, or the project's image created for this uid; an administrator sees all projects. */
export const listImages = (by: By) =>
  request(
    'listImages',
    'GET',
    `/v2/images${queryOf('id' in by ? { id: `in:${by.id}` } : 'uid' in by ? { kupenstack_uid: by.uid, owner: by.owner } : by)}`,
  );

/** A project that an image is shared with, and whether it accepted. */
export const ImageMember = z.object({ member_id: z.string(), status: z.string() });

export const listMembers = (id: string) => request('listMembers', 'GET', `/v2/images/${step(id)}/members`);

export const createImage = (uid: string, name: string, diskFormat: string) =>
  request('createImage', 'POST', '/v2/images', {
    body: { name, disk_format: diskFormat, container_format: 'bare', visibility: 'private', kupenstack_uid: uid },
  });

/** Has Glance download it. */
export const importImage = (id: string, url: string) =>
  request('importImage', 'POST', `/v2/images/${step(id)}/import`, {
    body: { method: { name: 'web-download', uri: url } },
  });

export const deleteImage = (id: string) => request('deleteImage', 'DELETE', `/v2/images/${step(id)}`, { about: id });
