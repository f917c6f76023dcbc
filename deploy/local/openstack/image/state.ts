/** How far an image has come. */
type ImageStatus = 'queued' | 'saving' | 'importing' | 'active' | 'deleted';

/** An image, without its bytes. */
export interface Image {
  id: string;
  name: string | null;
  status: ImageStatus;
  diskFormat: string | null;
  containerFormat: string | null;
  visibility: 'public' | 'private' | 'shared' | 'community';
  /** Bytes of the file, and of the disk in it. */
  size: number | null;
  virtualSize: number | null;
  checksum: string | null;
  sha512: string | null;
  minDisk: number;
  minRam: number;
  isProtected: boolean;
  owner: string;
  /** The projects that it is shared with, and whether they accepted. */
  members: Readonly<Record<string, 'pending' | 'accepted' | 'rejected'>>;
  tags: string[];
  /** What else was said of it: glance shows and filters by these like its own fields. */
  properties: Record<string, string>;
  /** Stores that a download failed for, or is on its way to; undefined before the first. */
  failedImport: string | undefined;
  importing: string | undefined;
  createdMs: number;
  updatedMs: number;
}

/** All that Glance knows. */
export interface ImageState {
  images: Map<string, Image>;
}

export const emptyImages = (): ImageState => ({ images: new Map() });
