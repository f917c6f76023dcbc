import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { attemptLabel, imageUidLabel, revisionLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { rememberDone } from './in-flight.ts';
import { dataVolumeName } from './plain-rules.ts';
import { isExternal } from './writers.ts';

/**
 * S5, one DataVolume: an image has at most one DataVolume that is neither Succeeded nor being deleted, and its name follows from uid,
 * revision and attempt. If a user creates a second one, for example by a restore, only DataVolumes that a function then adds are judged.
 */
export const s5OneDataVolume: Invariant = {
  number: 'S5',
  rule: 'an image has one DataVolume in flight, named by uid, revision and attempt',
  judge: () => {
    const done = rememberDone();
    const isOpen = (found: DataVolume) =>
      found.metadata.deletionTimestamp === undefined && found.status?.phase !== 'Succeeded' && !done.isDone(found);
    return {
      download: (step) => {
        done.note(step);
        const { object, before, isGone, state, change } = step;
        if (before || isGone || object.metadata.labels?.[attemptLabel] === undefined) return undefined;
        const misnamed = misnamedBy(object);
        if (misnamed) return misnamed;
        if (isExternal(change)) return undefined;
        const downloads = state.downloads.get(object.metadata.labels[imageUidLabel] ?? '');
        const open = [...(downloads?.values() ?? [])].filter(isOpen).map(({ metadata }) => metadata.name);
        return open.length > 1
          ? `${open.length} DataVolumes of one image are in flight: ${open.join(', ')}`
          : undefined;
      },
    };
  },
};

function misnamedBy({ metadata: { name, labels, ownerReferences } }: DataVolume): string | undefined {
  const owner = ownerReferences?.find(({ uid }) => uid === labels?.[imageUidLabel]);
  if (!owner) return undefined;
  const wanted = dataVolumeName(owner, labels?.[revisionLabel] ?? '', labels?.[attemptLabel] ?? '');
  return name === wanted ? undefined : `DataVolume ${name} should be named ${wanted}`;
}
