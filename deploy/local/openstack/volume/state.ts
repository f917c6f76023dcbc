import { type QuotaBook, quotaBook } from '../quotas.ts';

/** What a volume is or what is being done to it. */
export type VolumeStatus =
  | 'creating'
  | 'downloading'
  | 'available'
  | 'reserved'
  | 'attaching'
  | 'in-use'
  | 'detaching'
  | 'extending'
  | 'deleting'
  | 'error'
  | 'error_deleting'
  | 'error_extending'
  | 'maintenance';

/** A server's claim on a volume. */
export interface Attachment {
  id: string;
  serverId: string;
  /** `/dev/vdb`; '' while it is only reserved. */
  device: string;
  attachedMs: number;
  isConnected: boolean;
}

/** A disk. */
export interface Volume {
  id: string;
  name: string | null;
  description: string | null;
  /** GiB. */
  size: number;
  status: VolumeStatus;
  bootable: boolean;
  multiattach: boolean;
  metadata: Record<string, string>;
  /** What it remembers of the image it was made from. */
  imageMetadata: Record<string, string> | undefined;
  attachments: Attachment[];
  projectId: string;
  userId: string;
  createdMs: number;
  updatedMs: number | undefined;
  /** Whether a back end has accepted it; a volume that failed before has no host. */
  isPlaced: boolean;
}

/** All that Cinder knows. */
export interface VolumeState {
  volumes: Map<string, Volume>;
  quotas: QuotaBook;
  typeId: string;
}

export const emptyVolumes = (quotas: Readonly<Record<string, number>>): VolumeState => ({
  volumes: new Map(),
  quotas: quotaBook(quotas),
  typeId: '00000000-0000-4000-a000-000000000001',
});
