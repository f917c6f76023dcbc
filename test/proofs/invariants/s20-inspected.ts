import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { imageUidLabel } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant, Step } from './follow.ts';
import { grantOf } from './grant.ts';
import { verdictOf } from './plain-rules.ts';
import { beganBefore, policiesOf } from './reconcile.ts';

/** Since when the inspection of an image's present place in the queue says that it can never work. */
interface Since {
  revision: number;
  ms: number;
}

/**
 * S20, inspected: an image whose inspection says that its source can never work gets no slot and no DataVolume. A slot is judged by what
 * its reconcile could read; the phase and the DataVolume by what they follow. While some policy turned inspection off, nothing is.
 */
export const s20Inspected: Invariant = {
  number: 'S20',
  rule: 'no slot and no DataVolume for what its inspection said can never work',
  judge: (state) => {
    const since = new Map<string, Since>();
    const isOff = (step: Step) => policiesOf(step).some(({ values }) => values.inspectTimeout === 0);
    const isNever = (image: VMDiskImage | undefined) => image !== undefined && verdictOf(image) === 'never';
    return {
      image: (step) => {
        const { object, before, isGone, revision, change } = step;
        const { uid } = object.metadata;
        if (isGone || !isNever(object)) since.delete(uid);
        else if (!since.has(uid)) since.set(uid, { revision, ms: change.atMs });
        const begins = before?.status?.phase !== 'Syncing' && object.status?.phase === 'Syncing';
        return begins && change.by === 'start-sync' && isNever(before) && isNever(object) && !isOff(step)
          ? `${object.metadata.name} begins to sync although its source can never work`
          : undefined;
      },
      lease: (step) => {
        for (const { uid, image } of grantOf(step)?.added ?? []) {
          const known = since.get(uid);
          if (known && !beganBefore(step, known) && !isOff(step))
            return `${image} gets a slot although its source can never work`;
        }
        return undefined;
      },
      download: (step) => {
        const { before, isGone, object, change } = step;
        const image = state.images.get(object.metadata.labels?.[imageUidLabel] ?? '');
        const isNew = !before && !isGone && change.by === 'start-sync';
        return isNew && isNever(image) && image?.status?.phase !== 'Syncing' && !isOff(step)
          ? `DataVolume ${object.metadata.name} is made although its source can never work`
          : undefined;
      },
    };
  },
};
