import { type Context, type Subject, subjectNamed } from '../../shared/function.ts';
import { imageNameOf } from '../../shared/images/children.ts';
import { imageUidLabel, VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import { madeKinds, mayBeStray, type Stray, snapshotsNamedBy } from './stray.ts';

type Reader = Context['kube'];

/** The limit of deletions per audit. */
const straysPerAudit = 50;

/** What exists of images, and which snapshots they use. */
export function knownImages() {
  const [uids, used] = [new Set<string>(), new Set<string>()];
  return {
    add(image: VMDiskImage) {
      uids.add(image.metadata.uid);
      for (const name of snapshotsNamedBy(image)) used.add(keyOf({ ...image.metadata, name }));
    },
    miss: ({ metadata }: KubernetesObject) =>
      !uids.has(metadata.labels?.[imageUidLabel] ?? '') && !used.has(keyOf(metadata)),
  };
}

/** Names the objects whose label is of none of these images, which have to be all. */
export async function namesOfStrays(kube: Reader, known: ReturnType<typeof knownImages>, nowMs: number) {
  const found: Subject[] = [];
  for (const kind of madeKinds) {
    try {
      for await (const { items } of kube.pages<KubernetesObject>(kind, { labelSelector: imageUidLabel }))
        for (const object of items)
          if (known.miss(object) && mayBeStray(object, nowMs)) found.push(subjectNamed(kind, object.metadata));
    } catch (error) {
      // The kind is not served, so no object of it exists.
      if (!hasStatus(error, 404)) throw error;
    }
  }
  return found.slice(0, straysPerAudit);
}

/** What an audit named so and exists still, each with a second read of the image of its name. */
export async function straysAmong(kube: Reader, audited: readonly Subject[], nowMs: number): Promise<Stray[]> {
  const ofOneImage = Map.groupBy(audited.filter(isMade), (subject) => keyOf(imageRefOf(subject)));
  const looks = [...ofOneImage.values()].map(async (group): Promise<Stray[]> => {
    const found = (await Promise.all(group.map((subject) => readMade(kube, subject)))).flat();
    const [ref] = group.map(imageRefOf);
    const image = ref && (await kube.get(VMDiskImage, ref));
    return found.map((stray) => ({ nowMs, isAudit: true, stray, image }));
  });
  const looked = await Promise.allSettled(looks);
  // If an image could not be read, the next audit decides.
  return looked.flatMap((look) => (look.status === 'fulfilled' ? look.value : []));
}

const isMade = ({ kind }: Subject) => madeKinds.some((made) => made.kind === kind);

/** By a list, which is all that prune may do with these. */
async function readMade(kube: Reader, { kind, namespace, name }: Subject): Promise<KubernetesObject[]> {
  const resource: Resource | undefined = madeKinds.find((made) => made.kind === kind);
  return resource
    ? kube.list(resource, { ...(namespace ? { namespace } : {}), fieldSelector: `metadata.name=${name}` })
    : [];
}

const imageRefOf = ({ namespace, name }: ObjectReference) => ({ namespace, name: imageNameOf(name) ?? '' });
