import { firstKeyOf } from '../body.ts';
import type { Cloud } from '../cloud.ts';
import { asksForAll, isAsked } from '../listing.ts';
import { pageOf } from '../paging.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, done, ok, type Route, route } from '../route.ts';
import { createVolume } from './create-volume.ts';
import { setStatus } from './handle.ts';
import { linksOf, shownVolume } from './shown.ts';
import type { Volume } from './state.ts';
import { volumeAction } from './volume-actions.ts';

export function volumeRoutes(cloud: Cloud): Route[] {
  const { volumes } = cloud.volume;
  const found = ({ caller, params: { id = '' } }: Asked): Volume => {
    const known = volumes.get(id);
    if (!known || (!caller.isAdmin && known.projectId !== caller.projectId)) throw noVolume(id);
    return known;
  };
  const list = (asked: Asked, shown: (volume: Volume) => unknown) => {
    const { items, next } = pageOf(listedVolumes(cloud, asked), asked.query, ({ id }) => id, { noMarker: noVolume });
    const href = `${cloud.url}/volume/v3${asked.path}?${next}`;
    return ok({ volumes: items.map(shown), ...(next !== undefined && { volumes_links: [{ rel: 'next', href }] }) });
  };
  return [
    route('GET /:project/volumes', 'listVolumes', (asked) =>
      list(asked, (volume) => ({ id: volume.id, name: volume.name, links: linksOf(cloud, volume) })),
    ),
    route('GET /:project/volumes/detail', 'listVolumes', (asked) =>
      list(asked, (volume) => shownVolume(cloud, volume, asked)),
    ),
    route('POST /:project/volumes', 'createVolume', (asked) =>
      ok({ volume: shownVolume(cloud, createVolume(cloud, asked), asked) }, 202),
    ),
    route('GET /:project/volumes/:id', 'showVolume', (asked) =>
      ok({ volume: shownVolume(cloud, found(asked), asked) }),
    ),
    route('DELETE /:project/volumes/:id', 'deleteVolume', (asked) => deleteVolume(cloud, found(asked))),
    route('POST /:project/volumes/:id/action', actionName, (asked) => volumeAction(cloud, found(asked), asked)),
  ];
}

const noVolume = (id: string) => new Refusal(404, `Volume ${id} could not be found.`);

/** Newest first, as Cinder has them. */
function listedVolumes(cloud: Cloud, { caller, query }: Asked): Volume[] {
  const isAll = caller.isAdmin && asksForAll(query);
  const metadata = metadataIn(query.get('metadata'));
  return [...cloud.volume.volumes.values()]
    .filter(
      (volume) =>
        (isAll || volume.projectId === caller.projectId) &&
        (!isAll || !query.has('project_id') || volume.projectId === query.get('project_id')) &&
        isAsked(query, 'name', volume.name ?? '') &&
        isAsked(query, 'status', volume.status) &&
        isAsked(query, 'bootable', String(volume.bootable)) &&
        Object.entries(metadata).every(([key, value]) => volume.metadata[key] === value),
    )
    .reverse();
}

/** A literal, as Python or JSON writes one. */
function metadataIn(text: string | null): Record<string, string> {
  if (text === null) return {};
  try {
    return JSON.parse(text.replaceAll("'", '"')) as Record<string, string>;
  } catch {
    return {};
  }
}

/** Cinder 21: 400, not 409, while a server has it or something is being done to it. */
function deleteVolume(cloud: Cloud, { id, status, attachments }: Volume) {
  const deletable = ['available', 'error', 'error_restoring', 'error_extending', 'error_managing'];
  if (!deletable.includes(status) || attachments.length > 0)
    throw new Refusal(
      400,
      'Invalid volume: Volume status must be available or error or error_restoring or error_extending or error_managing and must not be migrating, attached, belong to a group, have snapshots, awaiting a transfer, or be disassociated from snapshots after volume transfer.',
    );
  setStatus(cloud, id, 'deleting');
  cloud.clock.after(cloud.times.deleteVolume, () => {
    if (cloud.fails('deleteVolume')) setStatus(cloud, id, 'error_deleting');
    else cloud.volume.volumes.delete(id);
  });
  return done(202);
}

const names: Record<string, string> = {
  'os-extend': 'extendVolume',
  'os-set_bootable': 'setBootable',
  'os-reset_status': 'resetVolumeStatus',
};

const actionName = (body: unknown) => names[firstKeyOf(body)] ?? 'actOnVolume';
