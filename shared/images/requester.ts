import { requestedByLabel, requestedByNamespaceLabel } from '../kinds/pelotech/virtual-machine.ts';
import { createdBy, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';

/** Who asks for an image, in the words of metrics; `direct` is a user who created the image itself, as with kubectl. */
type RequesterKind = 'publication' | 'VirtualMachine' | 'Workspace' | 'direct';

interface Requester {
  kind: RequesterKind;
  /** With the kind, for users: `Workspace demo`. */
  name: string;
}

/** Who asked for this image, by its labels: what they say decides nothing, since an author may write them. */
export function requesterOf({ metadata: { labels = {} } }: Pick<VMDiskImage, 'metadata'>): Requester {
  const { [requestedByLabel]: name, [requestedByNamespaceLabel]: namespace } = labels;
  if (labels[createdBy] === 'preload') return { kind: 'publication', name: 'publication' };
  if (name === undefined) return { kind: 'direct', name: 'direct' };
  // A Workspace has no namespace.
  const kind = namespace === undefined ? 'Workspace' : 'VirtualMachine';
  return { kind, name: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}` };
}
