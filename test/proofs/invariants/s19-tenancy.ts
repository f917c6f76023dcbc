import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Invariant, Step } from './follow.ts';
import { isReadable, type Policy } from './plain-policy.ts';
import { beganBefore, policiesOf } from './reconcile.ts';

/**
 * S19, tenancy: an image that a template asked for, and its download, is of a source that a line of the policy allows, with the
 * Secret of that line; a root disk is a clone of an image in its own namespace or in one of the policy's imageNamespaces;
 * and a Secret is read only if an image or machine of its namespace names it. Judged by any policy that the reconcile may have
 * read. Not judged: networks, what a Workspace mounts, and a download whose image an author or pipeline marked meanwhile.
 */
export const s19Tenancy: Invariant = {
  number: 'S19',
  rule: 'nothing is made or read for an author but what the policy allows',
  judge: (_, { reconciles = [] }) => {
    /** When the maker of an image, by its label, last changed. */
    const marked = new Map<string, { revision: number; ms: number }>();
    const named = new Set<string>();
    return {
      image: (step) => {
        const { object, before, isGone, change, revision } = step;
        const { namespace, uid } = object.metadata;
        named.add(keyOf({ namespace, name: object.spec.secretRef ?? '' }));
        if (isGone) return void marked.delete(uid);
        if (makerOf(before) !== makerOf(object) || !before) marked.set(uid, { revision, ms: change.atMs });
        const isMade = !before && (change.by === 'ensure-vmdi' || change.by === 'compose-workspace');
        return isMade ? forbidden(step, object.metadata, object.spec) : undefined;
      },
      download: (step) => {
        const { object, before, isGone, change, state } = step;
        const image = state.images.get(object.metadata.labels?.[imageUidLabel] ?? '');
        const mark = image && marked.get(image.metadata.uid);
        if (before || isGone || change.by !== 'start-sync' || !isOfTemplate(image)) return undefined;
        return mark && beganBefore(step, mark) ? undefined : forbidden(step, object.metadata, sourceOf(object) ?? {});
      },
      machine: ({ object: { metadata, spec } }) => {
        const secrets = [...(spec.users ?? []).map((user) => user.passwordSecretRef), spec.sshHostKeySecretRef];
        for (const name of [`${metadata.name}-cloud-init`, ...secrets.map((secret) => secret?.name ?? '')])
          named.add(keyOf({ namespace: metadata.namespace, name }));
        return undefined;
      },
      other: (step) => {
        const { object, before, isGone, change } = step;
        const { source } = (object as DataVolume).spec ?? {};
        const from = (source as { snapshot?: { namespace?: string } } | undefined)?.snapshot?.namespace;
        const { namespace, name } = object.metadata;
        if (before || isGone || change.by !== 'provision-vm' || from === undefined || from === namespace)
          return undefined;
        return policiesOf(step).some((policy) => isOpen(policy, from))
          ? undefined
          : `${namespace}/${name} was cloned from namespace ${from}, which is not in imageNamespaces`;
      },
      end: () =>
        reconciles
          .filter(({ by }) => by === 'start-sync' || by === 'provision-vm')
          .flatMap(({ by, asked }) =>
            asked
              .filter(({ kind, verb, of }) => kind === 'Secret' && verb === 'get' && !named.has(of))
              .map(({ of }) => `${by} read Secret ${of}, which no image or machine there names`),
          ),
    };
  },
};

const makerOf = (image: VMDiskImage | undefined) => image?.metadata.labels?.['app.kubernetes.io/created-by'];
const isOfTemplate = (image: VMDiskImage | undefined) =>
  ['ensure-vmdi', 'compose-workspace'].includes(makerOf(image) ?? '');

const isOpen = (policy: Policy, namespace: string) =>
  isReadable(policy, 'imageNamespaces') && policy.values.imageNamespaces.includes(namespace);

interface Source {
  url?: string | undefined;
  secretRef?: string | undefined;
}
const sourceOf = ({ spec }: DataVolume) =>
  Object.values((spec?.source ?? {}) as Record<string, Source>).find(({ url }) => url !== undefined);

/** In an image namespace the Secret has to be that of the line; elsewhere its author chose among Secrets of that namespace. */
function forbidden(step: Step, at: { namespace?: string | undefined; name: string }, { url = '', secretRef }: Source) {
  const isAllowed = policiesOf(step).some((policy) => {
    const { sources, imageNamespaces } = policy.values;
    const isShared = imageNamespaces.includes(at.namespace ?? '');
    return sources.some(
      ({ prefix, secret }) => url.startsWith(prefix) && (!isShared || secretRef === undefined || secret === secretRef),
    );
  });
  return isAllowed ? undefined : `${keyOf(at)} is of ${url}, which the policy does not allow`;
}
