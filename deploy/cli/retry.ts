import { adoptSnapshot, syncRequested, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { type Body, exit, fieldManager, Refused } from './command.ts';
import { namespaceOptions } from './help.ts';
import { completeOnly } from './names.ts';
import { readStopped } from './queue.ts';
import { describeStopped } from './stopped.ts';
import { findImage, formatName, formatTyped } from './target.ts';

/** Requests a new download. */
export const retry: Body = {
  words: 'IMAGE',
  options: namespaceOptions,
  details: [
    'It joins the end of the queue as a new revision, with all its attempts. Machines use the previous snapshot until the',
    'new one is ready. A running download of the image ends.',
  ],
  examples: ['retry ubuntu', 'retry vmdi-farm/ubuntu'],
  complete: completeOnly('image'),
  run: async ({ cluster, words, namespace, nowMs }) => {
    const reached = await cluster();
    const { kube } = reached;
    const image = await findImage(reached, words, namespace);
    const refusal = refusalToRetry(image);
    if (refusal) throw new Refused(refusal);
    const requested = new Date(nowMs).toISOString();
    const { uid } = image.metadata;
    const patch = { metadata: { uid, annotations: { [syncRequested]: requested } } };
    await kube.patch(VMDiskImage, referenceOf(image), patch, { fieldManager });
    const stopped = await readStopped(kube, nowMs);
    return {
      lines: [
        `${formatName(image)} will be downloaded again. To wait for it: ot-functions wait ${formatTyped(image)}`,
        ...(stopped ? [describeStopped(stopped)] : []),
      ],
      json: { image: referenceOf(image), requested },
      code: exit.done,
    };
  },
};

/** Why the request would change nothing. */
export function refusalToRetry(image: VMDiskImage): string | undefined {
  const { deletionTimestamp, annotations } = image.metadata;
  if (deletionTimestamp) return `${formatName(image)} is being deleted; create it again after its deletion`;
  const adopted = annotations?.[adoptSnapshot];
  return adopted === undefined
    ? undefined
    : `${formatName(image)} adopts VolumeSnapshot ${adopted} instead of a download; first remove its annotation: kubectl annotate vmdi ${image.metadata.name} -n ${image.metadata.namespace} ${adoptSnapshot}-`;
}
