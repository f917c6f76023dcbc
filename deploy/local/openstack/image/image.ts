import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod';
import { bodyAs } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { pageOf } from '../paging.ts';
import { Refusal, webobBody } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import type { Service } from '../service.ts';
import { contentOf, withContent } from './content.ts';
import { importImage } from './import-image.ts';
import { NewImage, newImage } from './new-image.ts';
import { shownImage } from './shown.ts';
import type { Image } from './state.ts';

/** Glance: what volumes are filled from. */
export const imageService = (cloud: Cloud): Service => ({
  name: 'image',
  prefix: '/image',
  routes: imageRoutes(cloud),
  refusalBody: webobBody,
  unauthorizedBody: () =>
    webobBody(
      new Refusal(
        401,
        'This server could not verify that you are authorized to access the document you requested. Either you supplied the wrong credentials (e.g., bad password), or your browser does not understand how to supply the credentials required.',
      ),
    ),
});

function imageRoutes(cloud: Cloud): Route[] {
  const { images } = cloud.image;
  const found = ({ caller, method, params: { id = '' } }: Asked): Image => {
    const known = images.get(id);
    if (!known || !sees(known, caller))
      throw new Refusal(
        404,
        method === 'DELETE' ? `Failed to find image ${id} to delete` : `No image found with ID ${id}`,
      );
    return known;
  };
  const own = (asked: Asked, doing: string): Image => {
    const image = found(asked);
    if (image.owner !== asked.caller.projectId && !asked.caller.isAdmin)
      throw new Refusal(403, `You are not authorized to complete ${doing} action.`);
    return image;
  };
  return [
    // Glance answers any unknown path with its list of versions.
    route(
      'GET /:any',
      'showVersions',
      () => ok({ versions: [{ id: 'v2.15', status: 'CURRENT', links: [] }] }, 300),
      true,
    ),
    route('GET /v2/images', 'listImages', (asked) => {
      const fitting = [...images.values()]
        .filter((image) => sees(image, asked.caller) && fits(cloud, image, asked.query))
        .reverse();
      const { items, next } = pageOf(fitting, asked.query, ({ id }) => id, { most: 25 });
      const first = new URLSearchParams(asked.query);
      first.delete('marker');
      const linkTo = (query: string) => (query ? `/v2/images?${query}` : '/v2/images');
      return ok({
        images: items.map((image) => shownImage(cloud, image)),
        first: linkTo(String(first)),
        ...(next !== undefined && { next: linkTo(next) }),
        schema: '/v2/schemas/images',
      });
    }),
    route('POST /v2/images', 'createImage', ({ caller, body }) => {
      const wanted = bodyAs(NewImage, body);
      if (wanted.visibility === 'public' && !caller.isAdmin)
        throw new Refusal(403, 'You are not authorized to complete publicize_image action.');
      if (wanted.id !== undefined && images.has(wanted.id)) throw new Refusal(409, 'Image ID already exists.');
      const made = newImage(cloud, caller.projectId, wanted);
      images.set(made.id, made);
      const location = `${cloud.url}/image/v2/images/${made.id}`;
      return {
        status: 201,
        body: shownImage(cloud, made),
        headers: { location, 'openstack-image-import-methods': 'glance-direct,web-download,copy-image' },
      };
    }),
    route('GET /v2/images/:id', 'showImage', (asked) => ok(shownImage(cloud, found(asked)))),
    route('DELETE /v2/images/:id', 'deleteImage', (asked) => {
      const { id, isProtected } = own(asked, 'delete_image');
      if (isProtected) throw new Refusal(403, `Image ${id} is protected and cannot be deleted.`);
      images.delete(id);
      return done();
    }),
    route('PUT /v2/images/:id/file', 'uploadImage', async (asked) => {
      const image = own(asked, 'upload_image');
      if (asked.headers['content-type'] !== 'application/octet-stream')
        throw new Refusal(415, 'Unsupported Content-Type');
      if (image.status !== 'queued')
        throw new Refusal(409, `Image status transition from ${image.status} to saving is not allowed`);
      images.set(image.id, withContent(cloud, image, await contentOf([asked.bytes])));
      return done();
    }),
    ...memberRoutes(cloud, found, own),
    route('POST /v2/images/:id/import', 'importImage', (asked) => {
      importImage(cloud, own(asked, 'modify_image'), asked.body);
      return done(202);
    }),
  ];
}

const Status = z.object({ status: z.enum(['pending', 'accepted', 'rejected']) });

/** The projects that an image is shared with: its owner names them, and each accepts for itself. */
function memberRoutes(
  cloud: Cloud,
  found: (asked: Asked) => Image,
  own: (asked: Asked, doing: string) => Image,
): Route[] {
  const shown = ({ id, members }: Image, member: string) => ({
    image_id: id,
    member_id: member,
    status: members[member],
    schema: '/v2/schemas/member',
  });
  const set = (image: Image, member: string, status: Image['members'][string]) => {
    const after = { ...image, members: { ...image.members, [member]: status } };
    cloud.image.images.set(image.id, after);
    return ok(shown(after, member));
  };
  return [
    route('GET /v2/images/:id/members', 'listMembers', (asked) => {
      const image = found(asked);
      const { caller } = asked;
      const all = Object.keys(image.members);
      const seen =
        caller.isAdmin || image.owner === caller.projectId ? all : all.filter((one) => one === caller.projectId);
      return ok({ members: seen.map((member) => shown(image, member)), schema: '/v2/schemas/members' });
    }),
    route('POST /v2/images/:id/members', 'addMember', (asked) =>
      set(own(asked, 'add_member'), bodyAs(z.object({ member: z.string() }), asked.body).member, 'pending'),
    ),
    route('PUT /v2/images/:id/members/:member', 'updateMember', (asked) =>
      set(found(asked), asked.params.member ?? '', bodyAs(Status, asked.body).status),
    ),
  ];
}

const sees = ({ visibility, owner, members }: Image, { isAdmin, projectId }: Asked['caller']) =>
  isAdmin ||
  owner === projectId ||
  visibility === 'public' ||
  visibility === 'community' ||
  members[projectId] !== undefined;

const notAttributes = new Set([
  'limit',
  'marker',
  'sort',
  'sort_key',
  'sort_dir',
  'member_status',
  'tag',
  'size_min',
  'size_max',
]);

function fits(cloud: Cloud, image: Image, query: URLSearchParams): boolean {
  const shown: Record<string, unknown> = shownImage(cloud, image);
  return (
    query.getAll('tag').every((tag) => image.tags.includes(tag)) &&
    [...query].filter(([name]) => !notAttributes.has(name)).every(([name, value]) => isSaid(shown[name], value))
  );
}

const isSaid = (found: unknown, asked: string) =>
  asked.startsWith('in:') ? asked.slice(3).split(',').includes(String(found)) : isDeepStrictEqual(String(found), asked);
