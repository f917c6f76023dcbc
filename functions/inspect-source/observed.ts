import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Content } from './content.ts';

/** What a look at a source found. */
export type Look =
  /** It was not looked at, and why. */
  | { notInspected: string }
  /** No answer, or one without information about the object. */
  | { unreachable: string }
  /** The server has refused it. */
  | { status: number; code: string | undefined }
  | Found;

/** The object was given out. */
export interface Found {
  bytes: number | undefined;
  etag: string | undefined;
  lastModified: string | undefined;
  content: Content;
  /** A qcow2 image whose own counts say that it is longer than the object. */
  isCut: boolean;
}

/** A queued image, and what was found at its source; or an image that a later reconcile looks at. */
export type Observed =
  | {
      nowMs: number;
      image: VMDiskImage;
      look: Look;
      policy: Policy;
    }
  | { postponed: ObjectReference; afterMs: number }
  | Refreshed;

/** An image at rest, and what is at its source now; `again` is a second look, where the first found another object. */
export interface Refreshed {
  refreshed: VMDiskImage;
  nowMs: number;
  look: Look | { invalid: string };
  again?: Look;
}
