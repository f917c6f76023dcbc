import type { Action } from '../../shared/actions.ts';
import { type KubernetesObject, nameOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { nameTaken, owns } from '../../shared/kubernetes/ownership.ts';
import { formatRefusal, refusalKey } from '../../shared/kubernetes/refusal.ts';
import { sentence } from '../../shared/sentence.ts';
import { workspaceChild } from '../../shared/workspaces/workspace.ts';
import { contains } from './contains.ts';
import type { Observed } from './observed.ts';

/** Digest of what we want of an object: what is wanted no more is in none of the fields that are compared. */
export const wantedDigest = 'pelotech.ot/wanted-digest';

/** An object of a workspace as it should be. */
export interface Child {
  resource: Resource;
  ref: ObjectReference;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** Its fields beside metadata. */
  fields: Readonly<Record<string, unknown>>;
  /** What is wanted, where the fields say it otherwise once the object is there; else the fields. */
  wanted?: unknown;
  /** Others put fields of their own beside ours: they stay. Where absent, only what is wanted does. */
  isShared?: true;
}

/** What stands under the name of a child, and what this pass writes there. */
export interface Made {
  writes: Action[];
  /** The child itself, once it is there and ours. */
  found: KubernetesObject | undefined;
  /** Why there is none, or not as it should be, in a word and a sentence. */
  obstacle: { reason: string; message: string; isFinal: boolean } | undefined;
}

/** Makes the child, or mends it, where it is not as it should be; what is not the workspace's is left alone and said. */
export function make(observed: Observed, child: Child, found: KubernetesObject | undefined): Made {
  const { resource, ref } = child;
  if (found && !owns(observed.workspace, found))
    return { writes: [], found: undefined, obstacle: nameTaken('workspace', observed.workspace, found) };
  if (found?.metadata.deletionTimestamp) {
    return {
      writes: [],
      found,
      obstacle: { reason: 'Terminating', message: describeLeaving(resource, found), isFinal: false },
    };
  }
  const refused = refusal(observed, resource, ref);
  if (refused) return { writes: [], found, obstacle: refused };
  if (!found) return { writes: [created(observed, child)], found: undefined, obstacle: undefined };
  if (isAsWanted(observed, child, found)) return { writes: [], found, obstacle: undefined };
  return { writes: [mended(observed, child, found)], found, obstacle: undefined };
}

/** Why something that was deleted is still there. */
export function describeLeaving(resource: Pick<Resource, 'kind'>, { metadata }: KubernetesObject): string {
  const { finalizers = [] } = metadata;
  const holders = finalizers.length > 0 ? `, held by ${finalizers.join(', ')}` : '';
  return `${nameOf(resource, metadata)} is being deleted${holders}.`;
}

const annotationsOf = (child: Child) => ({
  ...child.annotations,
  [wantedDigest]: digestOf([child.labels, child.annotations, child.wanted ?? child.fields]),
});

function wantedOf(observed: Observed, child: Child) {
  const metadata = workspaceChild(observed.workspace, child.ref);
  return {
    apiVersion: child.resource.apiVersion,
    kind: child.resource.kind,
    metadata: { ...metadata, labels: { ...child.labels, ...metadata.labels }, annotations: annotationsOf(child) },
    ...child.fields,
  };
}

const created = (observed: Observed, child: Child): Action => ({
  do: 'create',
  resource: child.resource,
  object: wantedOf(observed, child),
  owner: observed.workspace.metadata.uid,
});

const isAsWanted = (observed: Observed, child: Child, found: KubernetesObject) => {
  const { metadata, ...fields } = wantedOf(observed, child);
  const { ownerReferences: _ours, ...compared } = metadata;
  return contains({ ...found }, { metadata: compared, ...fields });
};

function mended(observed: Observed, child: Child, found: KubernetesObject): Action {
  const { labels, annotations } = wantedOf(observed, child).metadata;
  const metadata = {
    ...found.metadata,
    labels: { ...found.metadata.labels, ...labels },
    annotations: { ...found.metadata.annotations, ...annotations },
  };
  const fields = child.isShared ? over(child.fields, { ...found }) : child.fields;
  return {
    do: 'replace',
    resource: child.resource,
    object: { ...found, metadata, ...fields },
    owner: observed.workspace.metadata.uid,
  };
}

/** Each field with what others put into it and we have no word of. */
const over = (fields: Child['fields'], found: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? { ...(found[key] as object | undefined), ...value } : value,
    ]),
  );

/** How long a new grant may be unknown to a part of the API server. */
const roleBindingSettlesMs = 30_000;

/** The right to write in the namespace was made or mended just now. */
export function isRoleBindingNew({ roleBinding, nowMs }: Observed): boolean {
  if (roleBinding === undefined) return false;
  const { creationTimestamp, managedFields = [] } = roleBinding.metadata as typeof roleBinding.metadata & {
    managedFields?: readonly { time?: string }[];
  };
  const times = [creationTimestamp, ...managedFields.map(({ time }) => time)].filter((time) => time !== undefined);
  return times.some((time) => nowMs - Date.parse(time) < roleBindingSettlesMs);
}

/** An object that the API server refused in this pass. */
function refusal(observed: Observed, resource: Resource, ref: ObjectReference): Made['obstacle'] {
  const found = observed.refusals.get(refusalKey(resource, ref));
  if (found === undefined) return undefined;
  const { reason } = found;
  const said = resource.holdsPasswords && reason !== 'NameTaken' ? reason : formatRefusal(found);
  const message = `${nameOf(resource, ref)} was refused: ${sentence(said)}`;
  return reason === 'Forbidden'
    ? { reason, message, isFinal: !isRoleBindingNew(observed) }
    : { reason: reason === 'NameTaken' ? reason : 'Rejected', message, isFinal: true };
}
