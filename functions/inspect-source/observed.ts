import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Content } from './content.ts';

/** What the inspection of a source found. */
export type Inspection =
  /** Why it was not inspected. */
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

/** A queued image, and what was found at its source; or an image that a later reconcile inspects. */
export type Observed =
  | {
      nowMs: number;
      image: VMDiskImage;
      inspection: Inspection;
      policy: Policy;
    }
  | { postponed: ObjectReference; afterMs: number }
  | Refreshed;

/** A finished image, and what is at its source now; `again` is a second inspection if the first found another object. */
export interface Refreshed {
  refreshed: VMDiskImage;
  nowMs: number;
  inspection: Inspection | { invalid: string };
  again?: Inspection;
}
