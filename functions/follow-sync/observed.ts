import type { DataSource } from '../../shared/kinds/cdi/data-source.ts';
import type { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import type { Pod } from '../../shared/kinds/core/pod.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { Policy } from '../../shared/policy.ts';

/** One image and everything that was made for it. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  image: VMDiskImage;
  dataVolumes: readonly DataVolume[];
  pods: readonly Pod[];
  /** Those that carry the image's label, and the one its status names. */
  snapshots: readonly VolumeSnapshot[];
  /** The DataSource of its name, if it was looked for: only if the policy asks for one. */
  dataSource?: { found: DataSource | undefined } | undefined;
  /** The API server answered 404 for the very snapshot that the image's status names. */
  isSnapshotGone: boolean;
  /** An audit retries what the API server refused: no event reports that a quota or another cause was removed. */
  isAudit: boolean;
  /** An event is about the image, its DataVolume or its snapshot. */
  isNamed: boolean;
  refusals: Refusals;
}

/** CDI: a populated DataVolume is Succeeded before its claim is bound, and a snapshot cut in between fails for minutes. */
export const isDownloaded = (dataVolume: DataVolume | undefined) =>
  dataVolume?.status?.phase === 'Succeeded' && conditionOf(dataVolume.status.conditions, 'Bound')?.status === 'True';
