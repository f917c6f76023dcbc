import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Invariant } from './follow.ts';
import { hasEnded, isAdopting } from './plain-rules.ts';

/**
 * S21, refreshed: that an object was replaced is reported only after two looks, since the revision was inspected, that found the same other
 * one; and at the end an image with `spec.refresh` has the revision of what is at its url. So a change makes one revision, and no
 * change makes none. Not judged where sources were not recorded, and at the end not while the policy turns inspection off.
 */
export const s21Refreshed: Invariant = {
  number: 'S21',
  rule: 'an image that is refreshed has the revision of what is at its url, and no revision more',
  judge: (state, { sources, stillFromMs }) => {
    if (!sources) return {};
    /** When what is known of the object of an image's revision was written. */
    const known = new Map<string, { text: string; revision: number }>();
    return {
      image: ({ object, before, isGone, change, revision }) => {
        const { uid, name } = object.metadata;
        const since = known.get(uid)?.revision ?? 0;
        const text = `${object.status?.queuedAt} ${etagOf(object)}`;
        if (isGone) known.delete(uid);
        else if (known.get(uid)?.text !== text) known.set(uid, { text, revision });
        if (isGone || change.by !== 'inspect-source' || !isReplaced(object) || isReplaced(before)) return undefined;
        const found = sources.looks
          .filter((look) => look.url === object.spec.url && look.revision >= since && look.revision < revision)
          .map(({ etag }) => etag)
          .filter((etag) => etag !== undefined && etag !== etagOf(before));
        return found.some((etag, index) => found.indexOf(etag) < index)
          ? undefined
          : `${name} is to have a new revision, but no two looks found the same object other than ${etagOf(before)}: ${found}`;
      },
      end: () => {
        if (stillFromMs === undefined || state.policies.now.values.inspectTimeout === 0) return [];
        return [...state.images.values()].filter(isRefreshed).flatMap((image) => {
          const { metadata, spec } = image;
          const wanted = sources.atEnd[spec.url];
          return etagOf(image) === wanted
            ? []
            : [`${metadata.name} ends with the revision of ${etagOf(image)}, and ${wanted} is at its url`];
        });
      },
    };
  },
};

/** The ETag of the object that the present revision was inspected with. */
const etagOf = (image: VMDiskImage | undefined) =>
  image?.status?.source?.queuedAt === image?.status?.queuedAt ? image?.status?.source?.etag : undefined;

const isReplaced = (image: VMDiskImage | undefined) =>
  image?.status?.source?.changed !== undefined && image.status.source.changed.revision === image.status.revision;

/** It is looked at again: it is at rest, and has had a place in the queue. */
const isRefreshed = (image: VMDiskImage) =>
  image.spec.refresh !== undefined &&
  image.metadata.deletionTimestamp === undefined &&
  image.status?.queuedAt !== undefined &&
  hasEnded(image.status) &&
  !isAdopting(image);
