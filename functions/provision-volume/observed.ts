import type { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import type { GlanceImage } from '../../shared/kinds/openstack/image.ts';
import type { CinderVolume } from '../../shared/kinds/openstack/volume.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import type { CloudFault } from '../../shared/openstack/status.ts';
import type { Policy } from '../../shared/policy.ts';

/** One volume, and what there is of it in OpenStack. */
export interface Observed {
  nowMs: number;
  policy: Policy;
  refusals: Refusals;
  volume: Volume;
  cloud: { fault: CloudFault } | Found;
}

export interface Found {
  /** Those that carry its uid. */
  volumes: readonly CinderVolume[];
  /** The images that were made for this volume. */
  own: readonly GlanceImage[];
  /** Those that its spec names, by name or by id, and that the project may use. */
  named: readonly GlanceImage[];
}
