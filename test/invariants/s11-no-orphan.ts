import { imageUidLabel } from '../../shared/resources/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/resources/resource.ts';
import type { Invariant } from './follow.ts';

/**
 * S11, no orphan: at rest every DataVolume, claim, snapshot and importer with the label of an image has that very image, by
 * its uid. Whoever sets `stillFromMs` has waited for rest (reliability §2).
 */
export const s11NoOrphan: Invariant = {
  number: 'S11',
  says: 'at rest what was made for an image has that image',
  judge: (state, { stillFromMs }) => ({
    end: () => {
      if (stillFromMs === undefined) return [];
      const pods = [...state.pods.values(), ...state.downloads.values()].flatMap((found) => [...found.values()]);
      const all: KubernetesObject[] = [...pods, ...state.claims.values(), ...state.snapshots.values()];
      return all
        .filter(({ metadata: { labels } }) => {
          const uid = labels?.[imageUidLabel];
          return uid !== undefined && !state.images.has(uid);
        })
        .map(({ kind, metadata }) => `${kind} ${metadata.name} outlives the image it was made for`);
    },
  }),
};
