import type { Invariant } from './follow.ts';
import { countUsers } from './using.ts';

/**
 * S13, counts: never negative; at rest an image counts exactly the machines that use it and the workspaces that wait for it, and says since when nobody does. An
 * image that nobody ever named and that has come to no end yet is not counted (reliability §2; functions/count-refs/README.md).
 */
export const s13Counts: Invariant = {
  number: 'S13',
  says: 'at rest the references of an image are those that use it',
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
          return [`${name} counts ${references?.count ?? 0} references of ${users}`];
        const isSaid = references === undefined || (unreferencedSince !== undefined) === (users === 0);
        return isSaid
          ? []
          : [`${name} has ${users} references and is unreferenced since ${unreferencedSince ?? 'never'}`];
      });
    },
  }),
};
