import * as z from 'zod';
import { queryOf, requestTo, step, type UidOrName, uidKey } from './request.ts';

/** A disk of Cinder; its size is GiB. */
export const CinderVolume = z.object({
  id: z.string(),
  name: z.string().nullable().default(''),
  status: z.string(),
  size: z.number(),
  /** A text, not a boolean. */
  bootable: z.string().default('false'),
  metadata: z.record(z.string(), z.string()).default({}),
  attachments: z
    .array(z.object({ server_id: z.string().default(''), device: z.string().nullable().default('') }))
    .default([]),
});
export type CinderVolume = z.infer<typeof CinderVolume>;

const request = requestTo('volume');

/** Of the project, or those of it that carry this uid or have this name: Cinder takes one of each. */
export const listVolumes = ({ uid, name }: UidOrName = {}) =>
  request(
    'listVolumes',
    'GET',
    `/volumes/detail${queryOf({ name, metadata: uid && JSON.stringify({ [uidKey]: uid }) })}`,
  );

/** Of any project, for an administrator. */
export const showVolume = (id: string) => request('showVolume', 'GET', `/volumes/${step(id)}`);

/** Of another project, for administrators. */
export const listVolumesOf = (project: string) =>
  request('listVolumes', 'GET', `/volumes${queryOf({ all_tenants: '1', project_id: project })}`);

export const createVolume = (
  uid: string,
  { name, size, image }: { name: string; size: number; image: string | undefined },
) =>
  request('createVolume', 'POST', '/volumes', {
    body: { volume: { name, size, metadata: { [uidKey]: uid }, ...(image ? { imageRef: image } : {}) } },
  });

/** Also while a server has it, from microversion 3.42 on. */
export const extendVolume = (id: string, size: number) =>
  request('extendVolume', 'POST', `/volumes/${step(id)}/action`, { body: { 'os-extend': { new_size: size } } });

/** Refused while a server has it (cinder 21: 400, not 409). */
export const deleteVolume = (id: string) => request('deleteVolume', 'DELETE', `/volumes/${step(id)}`, { about: id });
