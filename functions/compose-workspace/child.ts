import type { Action } from '../../shared/actions.ts';
import { type KubernetesObject, nameOf, type ObjectReference, type Resource } from '../../shared/kinds/resource.ts';
import { digestOf } from '../../shared/kubernetes/names.ts';
import { nameTaken, owns } from '../../shared/kubernetes/ownership.ts';
import { formatRefusal, type Refusal, refusalKey } from '../../shared/kubernetes/refusal.ts';
import type { Cause } from '../../shared/reasons/reason.ts';
import { sentence } from '../../shared/sentence.ts';
import { namespaceOf, workspaceChild } from '../../shared/workspaces/workspace.ts';
import { contains } from './contains.ts';
import type { Observed } from './observed.ts';

/** Digest of the wanted fields: a field that is no longer wanted is in none of those that are compared. */
const wantedDigest = 'pelotech.ot/wanted-digest';

/** An object of a workspace as it should be. */
export interface Child {
  resource: Resource;
  name: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  /** Its fields beside metadata. */
  fields: Readonly<Record<string, unknown>>;
  /** What the digest is made of, if the fields differ once the object exists; else the fields. */
  wanted?: unknown;
  /** Fields that others added stay. Otherwise only the wanted ones do. */
  isShared?: true;
}

/** What exists under the name of a child, and what this reconcile writes there. */
export interface Made {
  writes: Action[];
  /** The child itself, once it exists and belongs to the workspace. */
  found: KubernetesObject | undefined;
  /** Why it does not exist or is not as it should be. */
  obstacle: (Cause & { isFinal: boolean }) | undefined;
}

/** Makes a child, or repairs it if it differs. An object of another owner under its name is reported and left alone. */
export type Make = (child: Child, found: KubernetesObject | undefined) => Made;

type Maker = Pick<Observed, 'workspace' | 'roleBinding' | 'refusals' | 'nowMs'>;

/** For the children of one workspace. */
export const makeFor = ({ workspace, roleBinding, refusals, nowMs }: Maker): Make => {
  const isRightNew = isRoleBindingNew(roleBinding, nowMs);
  return (child, found) => {
    const { resource } = child;
    const wanted = wantedOf(workspace, child);
    if (found && !owns(workspace, found))
      return { writes: [], found: undefined, obstacle: nameTaken('workspace', workspace, found) };
    if (found?.metadata.deletionTimestamp) {
      const message = describeLeaving(resource, found);
      return { writes: [], found, obstacle: { reason: 'Terminating', message, isFinal: false } };
    }
    const refusal = refusals.get(refusalKey(resource, wanted.metadata));
    if (refusal) return { writes: [], found, obstacle: describeRefusal(child, wanted.metadata, refusal, isRightNew) };
    const how = { resource, owner: workspace.metadata.uid };
    if (!found) return { writes: [{ do: 'create', ...how, object: wanted }], found, obstacle: undefined };
    if (isAsWanted(found, wanted)) return { writes: [], found, obstacle: undefined };
    const object = repaired(found, wanted, child);
    return { writes: [{ do: 'replace', ...how, object }], found, obstacle: undefined };
  };
};

export const named = <T extends KubernetesObject>(objects: readonly T[], name: string): T | undefined =>
  objects.find(({ metadata }) => metadata.name === name);

/** Why something that was deleted still exists. */
export function describeLeaving(resource: Pick<Resource, 'kind'>, { metadata }: KubernetesObject): string {
  const { finalizers = [] } = metadata;
  const holders = finalizers.length > 0 ? `, held by ${finalizers.join(', ')}` : '';
  return `${nameOf(resource, metadata)} is being deleted${holders}.`;
}

function wantedOf(workspace: Observed['workspace'], child: Child) {
  const { resource, name, fields } = child;
  const { apiVersion, kind, namespaced } = resource;
  const namespace = namespaced ? namespaceOf(workspace.metadata.name) : undefined;
  const metadata = workspaceChild(workspace, { namespace, name });
  const digest = digestOf([child.labels, child.annotations, child.wanted ?? fields]);
  return {
    apiVersion,
    kind,
    metadata: {
      ...metadata,
      labels: { ...child.labels, ...metadata.labels },
      annotations: { ...child.annotations, [wantedDigest]: digest } as Record<string, string>,
    },
    ...fields,
  };
}

type Wanted = ReturnType<typeof wantedOf>;

const isAsWanted = (found: KubernetesObject, { metadata, ...fields }: Wanted) => {
  const { ownerReferences: _ours, ...compared } = metadata;
  return contains({ ...found }, { metadata: compared, ...fields });
};

function repaired(found: KubernetesObject, { metadata: { labels, annotations } }: Wanted, { fields, isShared }: Child) {
  const metadata = {
    ...found.metadata,
    labels: { ...found.metadata.labels, ...labels },
    annotations: { ...found.metadata.annotations, ...annotations },
  };
  return { ...found, metadata, ...(isShared ? over(fields, { ...found }) : fields) };
}

/** Each field, with what others added to it. */
const over = (fields: Child['fields'], found: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [
      key,
      typeof value === 'object' && value !== null ? { ...(found[key] as object | undefined), ...value } : value,
    ]),
  );

/** The API server refused the object in this reconcile. */
function describeRefusal(
  { resource }: Child,
  ref: ObjectReference,
  refusal: Refusal,
  isRightNew: boolean,
): Made['obstacle'] {
  const { reason } = refusal;
  const isTaken = reason === 'NameTaken';
  const cause = resource.holdsPasswords && !isTaken ? reason : formatRefusal(refusal);
  const message = `${nameOf(resource, ref)} was refused: ${sentence(cause)}`;
  return reason === 'Forbidden'
    ? { reason, message, isFinal: !isRightNew }
    : { reason: isTaken ? reason : 'Rejected', message, isFinal: true };
}

/** How long a new grant may be unknown to a part of the API server. */
const roleBindingSettlesMs = 30_000;

/** The right to write in the namespace was made or repaired just now. */
export function isRoleBindingNew(roleBinding: Observed['roleBinding'], nowMs: number): boolean {
  if (roleBinding === undefined) return false;
  const { creationTimestamp, managedFields = [] } = roleBinding.metadata as typeof roleBinding.metadata & {
    managedFields?: readonly { time?: string }[];
  };
  const times = [creationTimestamp, ...managedFields.map(({ time }) => time)].filter((time) => time !== undefined);
  return times.some((time) => nowMs - Date.parse(time) < roleBindingSettlesMs);
}
