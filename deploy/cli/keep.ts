import { isKept, keepAnnotation } from '../../shared/images/pruning.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { referenceOf } from '../../shared/kinds/resource.ts';
import { type Body, exit, fieldManager } from './command.ts';
import { namespaceOptions } from './help.ts';
import { completeOnly } from './names.ts';
import { findImage, formatName } from './target.ts';

/** Protects an unused image from pruning. */
export const keep: Body = {
  words: 'IMAGE',
  options: { ...namespaceOptions, off: { type: 'boolean', about: 'let pruning delete it again' } },
  details: ['Pruning (the policy keys prune and pruneAfter) skips it. Users can still delete it.'],
  examples: ['keep ubuntu', 'keep ubuntu --off'],
  complete: completeOnly('image'),
  run: async ({ cluster, words, namespace, is }) => {
    const reached = await cluster();
    const { kube } = reached;
    const image = await findImage(reached, words, namespace);
    const kept = !is('off');
    if (isKept(image) !== kept) {
      const annotations = { [keepAnnotation]: kept ? 'true' : null };
      const metadata = { uid: image.metadata.uid, annotations };
      await kube.patch(VMDiskImage, referenceOf(image), { metadata }, { fieldManager });
    }
    const says = kept ? 'is kept, whether it is used or not' : 'may be pruned when it is unused, as the policy says';
    return { lines: [`${formatName(image)} ${says}.`], json: { image: referenceOf(image), kept }, code: exit.done };
  },
};
