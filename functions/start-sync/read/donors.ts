import { contentOf, wantedContent } from '../../../shared/images/shared-content.ts';
import { isFromTemplate } from '../../../shared/images/sources.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { listLabelled } from '../../../shared/runtime/list-labelled.ts';
import { canDonate, type Donors, donorOf } from '../slots/donors.ts';
import { uidsOf } from './reader.ts';

/**
 * Looks for a donor of each content that these images want: a list of the images that have it, and one of their snapshots. An image of a
 * template is not a donor: its author may have replaced the object between its inspection and its download.
 */
export async function readDonors(kube: Pick<Kube, 'list' | 'pages'>, images: readonly VMDiskImage[]): Promise<Donors> {
  const contents = [...new Set(images.map(wantedContent).filter((content) => content !== undefined))];
  if (contents.length === 0) return new Map();
  const lists = contents.map(async (content) => {
    const [namespace = '', digest = ''] = content.split('/');
    const found: VMDiskImage[] = [];
    const having = { namespace, fieldSelector: `status.source.content=${digest},status.phase=Succeeded` };
    for await (const { items } of kube.pages(VMDiskImage, having)) {
      found.push(
        ...items.filter((image) => contentOf(image) === content && canDonate(image) && !isFromTemplate(image)),
      );
      if (found.length >= mostTried) break;
    }
    return found.slice(0, mostTried);
  });
  const candidates = await Promise.all(lists);
  const uids = uidsOf(candidates.flat());
  const snapshots = uids.length === 0 ? [] : await listLabelled(kube, VolumeSnapshot, imageUidLabel, uids);
  return new Map(
    contents.map((content, index) => {
      const donors = candidates[index] ?? [];
      return [content, donors.map((image) => donorOf(image, snapshots)).find((donor) => donor !== undefined)];
    }),
  );
}

/** The donors whose snapshots are looked at: one of them is enough, and there may be hundreds. */
const mostTried = 5;
