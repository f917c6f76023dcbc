import type { Action } from '../../../shared/actions.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import { traceOfImage } from '../../../shared/traces.ts';
import type { Observed } from '../observed.ts';

/**
 * Removes the owner reference to the image that earlier releases set on its snapshots: a foreground deletion of the image would
 * delete them while machines still use the image.
 */
export const disown = ({ image, snapshots }: Observed): Action[] =>
  snapshots
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((of): Action[] => {
      const owners = of.metadata.ownerReferences ?? [];
      const others = owners.filter(({ uid }) => uid !== image.metadata.uid);
      if (others.length === owners.length) return [];
      const metadata = { ownerReferences: others.length > 0 ? others : null };
      return [{ do: 'patchMetadata', resource: VolumeSnapshot, of, metadata, trace: traceOfImage(image) }];
    });
