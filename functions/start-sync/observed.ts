import type { KnownBeside } from '../../shared/function.ts';
import type { Basis } from '../../shared/images/forecast.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { Lease } from '../../shared/kinds/coordination/lease.ts';
import type { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import type { PersistentVolumeClaim } from '../../shared/kinds/core/persistent-volume-claim.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { ObjectReference } from '../../shared/kinds/resource.ts';
import type { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { Policy } from '../../shared/policy.ts';
import type { Donors } from './slots/donors.ts';
import type { Inputs } from './transition/inputs.ts';

/** The existing classes; class name → driver. */
export interface Classes {
  storage: ReadonlyMap<string, string>;
  snapshot: ReadonlyMap<string, string>;
}

/**
 * How long the downloads of all finished images took: the basis of a forecast if there are any, the median of their bytes in a millisecond
 * (`rate`), the milliseconds than which nine of ten took no longer (`longMs`), and the median of those from there to a usable snapshot.
 */
export type Downloads = Readonly<Partial<Record<keyof Basis | 'rate' | 'longMs' | 'snapshotMs', number | undefined>>>;

const hasBasis = (downloads: Downloads): downloads is Downloads & Basis => downloads.count !== undefined;

/** What a forecast is computed from; undefined if no download has finished. */
export const basisIn = (downloads: Downloads): Basis | undefined => (hasBasis(downloads) ? downloads : undefined);

/** What one reconcile of start-sync sees. */
export interface Gathered {
  nowMs: number;
  policy: Policy;
  policyMap: ConfigMap | undefined;
  lease: Lease | undefined;
  /** The images that this reconcile decides about: the unfinished ones in its focus, and the finished ones that may have to change. */
  images: readonly VMDiskImage[];
  /** All unfinished images, as the places of new ones hang on them. */
  unfinished: readonly VMDiskImage[];
  /** The holders, by uid, of which nothing was read: no event is about them, and they keep their slots. */
  unreadHolders: ReadonlySet<string>;
  /** Of the other holders, and of images that may have an attempt without a slot; all of ours where the Lease has to be rebuilt. */
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  /** Of holders without a DataVolume. */
  claims: readonly PersistentVolumeClaim[];
  /** The snapshots of images that may have lost their status. They show which revisions were downloaded. */
  snapshots: readonly VolumeSnapshot[];
  /** Absent if they could not be read. */
  classes?: Classes | undefined;
  /** The Secrets and ConfigMaps of the images that may be queued or get a slot now. */
  inputs: Inputs;
  /** Of the contents that the first of the queue want, while a slot is free. */
  donors: Donors;
  refusals: Refusals;
  /** An audit tries again what the API server forbade: nothing tells when a permission or quota changes. */
  isAudit: boolean;
  /** A sweep, or the end of an audit. */
  isTimed: boolean;
  /** That, or an event of the policy: what is wrong with the policy is reported. */
  isAboutAll: boolean;
  gracePeriodMs: number;
  /** Why the slots are not known in full: this reconcile gives and frees none. */
  gap?: string;
  /**
   * The images, by uid, that are left as they are: what they need could not be read, or another decision queues them, perhaps that of an
   * earlier reconcile.
   */
  undecided?: ReadonlySet<string>;
  /** Only at the end of an audit, which reads all finished images. */
  downloads?: Downloads | undefined;
  /** Images that events name and that this reconcile did not read, because it reached its limit. */
  postponed?: readonly ObjectReference[];
  /** What is performed beside this reconcile. */
  beside: KnownBeside;
}

/** The input of one decision: all images and the slots, or one new image to queue. */
export interface Observed extends Gathered {
  /** The places of the new images in the queue, by uid. */
  places: ReadonlyMap<string, string>;
  assignsSlots: boolean;
  /** The images that are queued already. */
  waiting: number;
  /** How many images of this reconcile enter the queue before each of them, by uid; all new ones before an image without an entry. */
  ahead: ReadonlyMap<string, number>;
}
