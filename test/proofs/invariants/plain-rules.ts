import { createHash } from 'node:crypto';
import type { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import { isReadable, type Policy } from './plain-policy.ts';

// The rules of the functions, written a second time and as plainly as possible: an invariant that used the code of the functions
// would not notice a mistake in it (test/proofs/purity.test.ts forbids the import).

export const operatorNamespace = 'sync-operator';
export const policyName = 'sync-operator-policy';
export const leaseName = 'sync-slots';
export const slotsAnnotation = 'pelotech.ot/slots';
/** The reason of Ready on an image whose objects are being deleted. */
export const takenDown = 'TakenDown';
/** The time after a loss of the Lease in which no slot is assigned. */
export const gracePeriodMs = 10_000;

type ConditionLike = { type: string; status: string; reason: string };

export const conditionOf = <C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined => {
  for (const condition of conditions ?? []) if (condition.type === type) return condition;
  return undefined;
};

export const isTrue = (conditions: readonly ConditionLike[] | undefined, type: string) =>
  conditionOf(conditions, type)?.status === 'True';

export const hasEnded = (status: VMDiskImageStatus | undefined) =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** The image waits for a snapshot that a user named instead of a download. */
export const isAdopting = ({ status }: VMDiskImage) =>
  status?.phase === 'Snapshotting' && status.adoption !== undefined && status.adoption.revision === status.revision;

/** `<image>-<eight letters of the SHA-256 of its uid>-r<revision>-a<attempt>`. */
export const dataVolumeName = ({ name, uid }: { name: string; uid: string }, revision: string, attempt: string) =>
  `${name}-${createHash('sha256').update(uid).digest('hex').substring(0, 8)}-r${revision}-a${attempt}`;

/** What an inspection found that a download cannot mend. */
const sourceFaults = [
  'SourceMissing',
  'SourceForbidden',
  'NotAnImage',
  'ImageTruncated',
  'DiskTooSmall',
  'BackingFile',
];

/** The verdict on the source of an image, for its present place in the queue: it is known, and whether it can never work. */
export function verdictOf({ status }: VMDiskImage): 'open' | 'never' | 'maybe' {
  const found = conditionOf(status?.conditions, 'SourceInspected');
  if (!found || !status?.source || status.source.queuedAt !== status.queuedAt) return 'open';
  if (found.reason === 'SourceUnreachable') return 'open';
  return sourceFaults.includes(found.reason) ? 'never' : 'maybe';
}

const isOfAdopted = (status: VMDiskImageStatus | undefined) =>
  status?.adoption !== undefined && status.adoption.revision === status.revision;

/**
 * What an inspection found of the source of the image's present revision, with what a disk of it is made of, as text: the same text is the
 * same content for images of a namespace.
 */
export function inspectedContent({ metadata: { namespace }, spec, status }: VMDiskImage): string | undefined {
  const { bytes, etag, queuedAt } = status?.source ?? {};
  if (bytes === undefined || queuedAt !== status?.queuedAt || isOfAdopted(status)) return undefined;
  const isStrongSum = /^sha(256|512):/.test(spec.checksum ?? '');
  if (!isStrongSum && !/^".+"$/.test(etag ?? '')) return undefined;
  const place = spec.sourceType === 's3' ? /^[^:]+:[/][/][^/?#]*/.exec(spec.url)?.[0] : spec.url;
  const source = isStrongSum ? spec.checksum : [spec.sourceType, place, etag, spec.checksum ?? ''].join(' ');
  return [namespace, source, bytes, spec.diskSize, spec.storageClass, spec.snapshotClass].join(' ');
}

/** The content that a queued image need not download if another of its namespace has it. */
export const wantedContent = (image: VMDiskImage) =>
  image.status?.sharedFrom || image.status?.syncRequested ? undefined : contentSaid(image);

/** The content as inspect-source noted it for the image's present revision. */
const contentSaid = ({ metadata: { namespace }, status }: VMDiskImage): string | undefined =>
  status?.source?.content !== undefined && status.source.queuedAt === status.queuedAt && !isOfAdopted(status)
    ? `${namespace} ${status.source.content}`
    : undefined;

/** The content that an image downloads, so that others wait for it; a queued image counts only if it holds a slot. */
export function contentAwaited(image: VMDiskImage, isHolder: boolean): string | undefined {
  const { phase, sharedFrom } = image.status ?? {};
  if (image.metadata.deletionTimestamp) return undefined;
  if (phase === 'Queued') return isHolder ? contentSaid(image) : undefined;
  if (phase !== 'Syncing' && phase !== 'Snapshotting') return undefined;
  return sharedFrom || isAdopting(image) ? undefined : contentSaid(image);
}

/** The first wait, doubled with each failure, up to the maximum. */
export function backoffMs(failures: number, { values }: Policy): number {
  let waitMs = values.retryBackoffDuration;
  for (let failed = 1; failed < failures; failed++) waitMs *= 2;
  return waitMs > values.maxRetryBackoffDuration ? values.maxRetryBackoffDuration : waitMs;
}

/** The transitions of the phase, by writer. */
const table = `
  start-sync:  new > Queued, new > Snapshotting
  start-sync:  Queued > Queued, Queued > Syncing, Queued > Snapshotting, Queued > Failed
  start-sync:  Syncing > Queued, Syncing > Snapshotting, Syncing > Failed
  start-sync:  Snapshotting > Queued, Snapshotting > Snapshotting
  start-sync:  Retrying > Queued, Retrying > Snapshotting
  start-sync:  Succeeded > Queued, Succeeded > Snapshotting
  start-sync:  Failed > Queued, Failed > Snapshotting
  follow-sync: Syncing > Snapshotting, Syncing > Retrying, Syncing > Failed
  follow-sync: Snapshotting > Succeeded, Snapshotting > Failed
  follow-sync: Failed > Snapshotting, Succeeded > Snapshotting
`;
export const transitions = new Map<string, string[]>();
for (const line of table.trim().split('\n')) {
  const [by = '', list = ''] = line.trim().split(/: +/);
  for (const transition of list.split(', ')) transitions.set(transition, [...(transitions.get(transition) ?? []), by]);
}

/** The names of a machine and a workspace in `references`. */
export const formatMachine = ({ metadata }: VirtualMachine) => `${metadata.namespace}/${metadata.name}`;
export const formatWorkspace = ({ metadata }: Workspace) => `Workspace ${metadata.name}`;

/**
 * The machine uses the image that it names. It is not being deleted, and it may name that image: an image in its own namespace or in those of the policy, or any image while the policy does not parse.
 */
export function usesByPolicy({ metadata, spec }: VirtualMachine, policy: Policy): boolean {
  if (metadata.deletionTimestamp) return false;
  if (!isReadable(policy, 'imageNamespaces')) return true;
  const { namespace } = spec.vmDiskImageRef;
  return namespace === metadata.namespace || policy.values.imageNamespaces.includes(namespace);
}

/**
 * The machine retains the deleted image: its disk is an existing clone of this image (or was replaced while the machine ran);
 * or the image has a snapshot, and the disk is to be its clone or the machine was created before the deletion.
 */
export function holds({ metadata, status }: VirtualMachine, image: VMDiskImage): boolean {
  const canBeCloned = image.status?.snapshot !== undefined && isTrue(image.status.conditions, 'Ready');
  if (status?.rootDisk) {
    if (status.rootDisk.image !== image.metadata.uid) return false;
    const disk = conditionOf(status.conditions, 'DiskReady');
    return canBeCloned || disk?.status === 'True' || disk?.reason === 'DiskReplaced';
  }
  const { deletionTimestamp = metadata.creationTimestamp } = image.metadata;
  return canBeCloned && Date.parse(metadata.creationTimestamp) <= Date.parse(deletionTimestamp);
}

/**
 * The workspace waits for the image. It names the image, and none of its own machines names it yet. It has found this image, or
 * none so far and the policy resolves the name to this image.
 */
export function waitsFor(
  { metadata, spec, status }: Workspace,
  image: VMDiskImage,
  { machines, policy }: { machines: readonly VirtualMachine[]; policy: Policy },
): boolean {
  const { name, namespace = '' } = image.metadata;
  if (metadata.deletionTimestamp || !spec.vms?.some((vm) => vm.backingVMDiskImage === name)) return false;
  if (machines.some((machine) => machine.metadata.namespace === `ws-${metadata.name}`)) return false;
  const found = status?.images?.find((one) => one.name === name);
  if (found) return found.namespace === namespace;
  return !isReadable(policy, 'imageNamespaces') || policy.values.imageNamespaces.includes(namespace);
}

/** The image was made for a workspace and not published since: prune deletes it when nothing uses it, whatever its policy `prune`. */
export const isMadeForWorkspaces = ({ metadata: { labels } }: Pick<VMDiskImage, 'metadata'>) =>
  labels?.['pelotech.ot/made-for'] === 'workspaces' && labels['app.kubernetes.io/created-by'] !== 'preload';

/** The time from which an unused image may be deleted by this policy; never if a user asked to keep it. */
export function prunableFromMs({ metadata, status }: VMDiskImage, { values }: Policy): number {
  const kept = metadata.annotations?.['pelotech.ot/keep'];
  if ((kept !== undefined && kept !== 'false') || metadata.deletionTimestamp || !status?.unreferencedSince)
    return Number.POSITIVE_INFINITY;
  const isPaidFor = status.phase === 'Snapshotting' || Boolean(status.snapshot);
  const waits = [
    ...(values.prune === 'WhenUnreferenced' ? [values.pruneAfter] : []),
    ...(isMadeForWorkspaces({ metadata }) ? [isPaidFor ? values.workspaceImagesKeptFor : 0] : []),
  ];
  return Date.parse(status.unreferencedSince) + Math.min(...waits);
}

/** prune records on an image that it deletes it because it was unused since then. */
export const isPrunedAsUnused = (image: VMDiskImage) => {
  const since = image.metadata.annotations?.['pelotech.ot/pruned-as-unreferenced-since'];
  return since !== undefined && since === image.status?.unreferencedSince && !isMadeForWorkspaces(image);
};

/** The content that the image asks for, as text. A changed name, Secret or CA does not change it. */
export const contentOf = ({ spec, metadata: { annotations = {} } }: Pick<VMDiskImage, 'spec' | 'metadata'>) =>
  [
    ...[spec.url, spec.sourceType, spec.checksum, spec.diskSize, spec.storageClass, spec.snapshotClass],
    ...[annotations['pelotech.ot/sync-requested'], annotations['pelotech.ot/published-content']],
  ].join(' ');
