import type { Invariant } from './follow.ts';
import { countUsers } from './using.ts';

/**
 * S13, counts: `references.count` is never negative. At rest it is the number of machines that use the image plus workspaces that wait for
 * it, and `unreferencedSince` is set exactly if it is zero. An unfinished image that was never referenced is not counted yet.
 */
export const s13Counts: Invariant = {
  number: 'S13',
  rule: 'at rest the reference count of an image is the number of its users',
  judge: (state, { stillFromMs }) => ({
    image: ({ object: { metadata, status } }) => {
      const { count = 0 } = status?.references ?? {};
      return count >= 0 && Number.isInteger(count) ? undefined : `${metadata.name} counts ${count} references`;
    },
    end: () => {
      if (stillFromMs === undefined) return [];
      return [...state.images.values()].flatMap((image) => {
        const { references, unreferencedSince, phase } = image.status ?? {};
        if (!phase) return [];
        const users = countUsers(state, image, state.policies.now);
        const { name } = image.metadata;
        if ((references?.count ?? 0) !== users)
          return [`${name} counts ${references?.count ?? 0} references, expected ${users}`];
        const isConsistent = references === undefined || (unreferencedSince !== undefined) === (users === 0);
        return isConsistent
          ? []
          : [`${name} has ${users} references and is unreferenced since ${unreferencedSince ?? 'never'}`];
      });
    },
  }),
};
