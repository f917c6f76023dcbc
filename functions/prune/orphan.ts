import type { Action } from '../../shared/actions.ts';
import { isOrphan } from '../../shared/images/pruning.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { recordEvent } from '../../shared/kubernetes/events.ts';
import { isValid, type Policy } from '../../shared/policy.ts';
import { markUnused } from './unused.ts';

/** The image is to be deleted, whether the policy asks to prune or not. */
export const mayBeOrphan = (image: VMDiskImage, policy: Policy) =>
  isOrphan(image) &&
  // Where machines and workspaces may name images decides which of them count.
  isValid(policy, 'imageNamespaces');

/** Deletes an image that was made for a workspace and lost its last reference, only as it was when that was found out. */
export const orphan = (image: VMDiskImage): Action[] => [
  ...markUnused(image),
  { do: 'delete', resource: VMDiskImage, of: image, unchanged: true },
  recordEvent(
    image,
    false,
    'Pruned',
    'The image was made for a workspace and is no longer used: deleted. To keep such an image, set annotation pelotech.ot/keep.',
    image.status?.unreferencedSince ?? '',
  ),
];
