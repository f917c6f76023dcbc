import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { imageUidLabel, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf } from '../../../shared/kinds/resource.ts';
import type { Invariant, Step } from './follow.ts';
import { isReadable, type Policy } from './plain-policy.ts';
import { beganBefore, policiesOf } from './reconcile.ts';
import { publicationsJudge } from './tenancy-publications.ts';
import { secretsJudge } from './tenancy-secrets.ts';
import { foreignContent, foreignInstancetype, foreignNetwork, mountsJudge } from './tenancy-workloads.ts';

/**
 * S19, tenancy: an image that a template or a publication asked for, and its download, is of a source that a line of the policy allows,
 * with the Secret of that line; a publication is signed, or the policy takes it without; a root disk is a clone of an image in
 * its own namespace or in one of the policy's imageNamespaces; a machine joins no network of another namespace but those of
 * machineNetworks, and has no instancetype but those of machineInstancetypes; a Workspace mounts its own volumes only; and a function reads a Secret only if an image or machine of its
 * namespace names it, or if the function is made for that one. Judged by any policy that the reconcile may have read. Not judged: a download
 * whose image an author or pipeline marked meanwhile.
 */
export const s19Tenancy: Invariant = {
  number: 'S19',
  rule: 'nothing is made or read for an author but what the policy allows',
  judge: (_, { reconciles = [] }) => {
    /** When the maker of an image, by its label, last changed. */
    const marked = new Map<string, { revision: number; ms: number }>();
    const secrets = secretsJudge(reconciles);
    const publications = publicationsJudge(reconciles);
    const mounts = mountsJudge();
    return {
      image: (step) => {
        const { object, before, isGone, change, revision } = step;
        const { uid } = object.metadata;
        secrets.image(object);
        if (isGone) return void marked.delete(uid);
        if (makerOf(before) !== makerOf(object) || !before) marked.set(uid, { revision, ms: change.atMs });
        const isMade = !before && (change.by === 'ensure-vmdi' || change.by === 'compose-workspace');
        const isPublished = change.by === 'preload' && object.spec.url !== before?.spec.url;
        const source = isMade || isPublished ? forbidden(step, object.metadata, object.spec) : undefined;
        return source ?? publications.image(step);
      },
      download: (step) => {
        const { object, before, isGone, change, state } = step;
        const image = state.images.get(object.metadata.labels?.[imageUidLabel] ?? '');
        const mark = image && marked.get(image.metadata.uid);
        if (before || isGone || change.by !== 'start-sync' || !isOfTemplate(image)) return undefined;
        return mark && beganBefore(step, mark)
          ? undefined
          : forbidden(step, object.metadata, sourceOf(object, image) ?? {});
      },
      machine: ({ object }) => secrets.machine(object),
      workspace: mounts.workspace,
      claim: foreignContent,
      other: (step) => {
        const { object, isGone, change } = step;
        if (object.kind === Secret.kind) return publications.secret(step);
        if (isGone || (change.by !== 'provision-vm' && change.by !== 'compose-workspace')) return undefined;
        return foreignClone(step) ?? foreignNetwork(step) ?? foreignInstancetype(step) ?? mounts.workload(step);
      },
      end: secrets.end,
    };
  },
};

function foreignClone(step: Step): string | undefined {
  const { object, before } = step;
  const { source } = (object as DataVolume).spec ?? {};
  const from = (source as { snapshot?: { namespace?: string } } | undefined)?.snapshot?.namespace;
  const { namespace, name } = object.metadata;
  if (before || from === undefined || from === namespace) return undefined;
  return policiesOf(step).some((policy) => isOpen(policy, from))
    ? undefined
    : `${namespace}/${name} was cloned from namespace ${from}, which is not in imageNamespaces`;
}

const makerOf = (image: VMDiskImage | undefined) => image?.metadata.labels?.['app.kubernetes.io/created-by'];
const isOfTemplate = (image: VMDiskImage | undefined) =>
  ['ensure-vmdi', 'compose-workspace'].includes(makerOf(image) ?? '');

const isOpen = (policy: Policy, namespace: string) =>
  isReadable(policy, 'imageNamespaces') && policy.values.imageNamespaces.includes(namespace);

interface Source {
  url?: string | undefined;
  secretRef?: string | undefined;
}
/** A clone within its namespace stands for a download of what its image names. */
function sourceOf({ spec, metadata }: DataVolume, image: VMDiskImage | undefined): Source | undefined {
  const { snapshot, ...others } = (spec?.source ?? {}) as Record<string, Source & { namespace?: string }>;
  if (snapshot) return snapshot.namespace === metadata.namespace ? image?.spec : undefined;
  return Object.values(others).find(({ url }) => url !== undefined);
}

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
