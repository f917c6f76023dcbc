import { type Cloud, microsOf } from '../cloud.ts';
import type { Asked } from '../route.ts';
import type { Attachment, Volume } from './state.ts';

/** A volume as Cinder shows it; which fields there are depends on the microversion and on who asks. */
export function shownVolume(cloud: Cloud, volume: Volume, { caller, minor, method }: Asked) {
  const { isAdmin } = caller;
  return {
    id: volume.id,
    status: volume.status,
    size: volume.size,
    availability_zone: 'nova',
    created_at: microsOf(volume.createdMs),
    updated_at: volume.updatedMs === undefined ? null : microsOf(volume.updatedMs),
    name: volume.name,
    description: volume.description,
    volume_type: '__DEFAULT__',
    snapshot_id: null,
    source_volid: null,
    metadata: volume.metadata,
    links: linksOf(cloud, volume),
    user_id: volume.userId,
    bootable: String(volume.bootable),
    encrypted: false,
    replication_status: null,
    consistencygroup_id: null,
    multiattach: volume.multiattach,
    attachments: volume.attachments
      .filter(({ isConnected }) => isConnected)
      .map((each) => shownAttachment(cloud, volume, each, isAdmin)),
    ...(method !== 'POST' && { 'os-vol-tenant-attr:tenant_id': volume.projectId }),
    ...(isAdmin && {
      migration_status: null,
      'os-vol-host-attr:host': volume.isPlaced ? `${cloud.host.name}@fake#fake` : null,
      'os-vol-mig-status-attr:migstat': null,
      'os-vol-mig-status-attr:name_id': null,
    }),
    ...(volume.imageMetadata && { volume_image_metadata: volume.imageMetadata }),
    ...newerFields(cloud, volume, minor, isAdmin),
  };
}

const newerFields = (cloud: Cloud, { isPlaced }: Volume, minor: number, isAdmin: boolean) => ({
  ...(minor >= 13 && { group_id: null }),
  ...(minor >= 21 && isAdmin && { provider_id: null }),
  ...(minor >= 48 && { shared_targets: !isPlaced, service_uuid: isPlaced ? cloud.volume.typeId : null }),
  ...(minor >= 61 && isAdmin && { cluster_name: null }),
  ...(minor >= 63 && { volume_type_id: cloud.volume.typeId }),
  ...(minor >= 65 && { consumes_quota: true }),
});

const shownAttachment = (
  cloud: Cloud,
  volume: Volume,
  { id, serverId, device, attachedMs }: Attachment,
  isAdmin: boolean,
) => ({
  id: volume.id,
  attachment_id: id,
  volume_id: volume.id,
  server_id: serverId,
  host_name: isAdmin ? cloud.host.name : null,
  device,
  attached_at: microsOf(attachedMs),
});

/** Where Cinder has a volume. */
export const linksOf = ({ url }: Cloud, { id, projectId }: Volume) => [
  { rel: 'self', href: `${url}/volume/v3/${projectId}/volumes/${id}` },
  { rel: 'bookmark', href: `${url}/volume/${projectId}/volumes/${id}` },
];
