import { isDeepStrictEqual } from 'node:util';
import { imageReferenceFinalizer } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { diskImageFinalizer, managedBy, publishedContent } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace, workspaceLabel, workspaceUidLabel } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Invariant, Step } from './follow.ts';
import { type FunctionName, isFunction } from './writers.ts';

/** What a function may write of an existing object, besides its status. */
interface Owned {
  spec?: true;
  labels?: readonly string[];
  annotations?: readonly string[];
  finalizers?: readonly string[];
}

type Kind = 'image' | 'machine' | 'machine of a workspace';

/** Of objects that users create. Of objects that functions create, only the status changes (functions/README.md). */
const owned: Record<Kind, Partial<Record<FunctionName, Owned>>> = {
  image: {
    preload: {
      spec: true,
      labels: ['app.kubernetes.io/created-by', 'app.kubernetes.io/version'],
      annotations: [publishedContent, 'pelotech.ot/published-at'],
      finalizers: [diskImageFinalizer],
    },
    'start-sync': { finalizers: [diskImageFinalizer] },
    prune: { annotations: ['pelotech.ot/pruned-as-unreferenced-since'], finalizers: [diskImageFinalizer] },
  },
  machine: { 'count-refs': { finalizers: [imageReferenceFinalizer] } },
  'machine of a workspace': {
    'count-refs': { finalizers: [imageReferenceFinalizer] },
    // It creates and repairs them.
    'compose-workspace': {
      spec: true,
      labels: [...Object.keys(managedBy), workspaceLabel, workspaceUidLabel],
      annotations: ['pelotech.ot/wanted-digest', 'pelotech.ot/built-with-roles'],
    },
  },
};

const kindOf = (kind: 'image' | 'machine', { metadata }: KubernetesObject): Kind =>
  kind === 'machine' && metadata.ownerReferences?.some((owner) => owner.kind === Workspace.kind)
    ? 'machine of a workspace'
    : kind;

/**
 * S14, ownership: a function changes only its own specs, labels, annotations and finalizers of images, machines, the policy, and
 * objects made for an image. If the writer of a change is unknown, managedFields name it, because each function is a field
 * manager; without managedFields nothing is judged.
 */
export const s14Ownership: Invariant = {
  number: 'S14',
  rule: 'a function changes only its own fields',
  judge: () => {
    const judge = (called: 'image' | 'machine' | undefined) => (step: Step) => {
      const { by } = step.change;
      if (step.isGone || !step.before || step.before === step.object) return undefined;
      const kind = called && kindOf(called, step.before);
      const message = isFunction(by)
        ? touched(step.before, step.object, (kind && owned[kind][by]) ?? {})
        : by === undefined && kind && managed(step.before, step.object, kind);
      return message ? `${message} of ${step.object.kind} ${step.object.metadata.name}` : undefined;
    };
    return {
      image: judge('image'),
      machine: judge('machine'),
      download: judge(undefined),
      snapshot: judge(undefined),
      claim: judge(undefined),
      policy: judge(undefined),
    };
  },
};

type Spec = { spec?: unknown; data?: unknown };

function touched(before: KubernetesObject, after: KubernetesObject, { spec, ...own }: Owned): string | undefined {
  const [was, is] = [before as Spec, after as Spec];
  if (!spec && !isSame(was.spec, is.spec)) return 'changed the spec';
  if (!isSame(was.data, is.data)) return 'changed the data';
  for (const field of ['labels', 'annotations'] as const) {
    const key = differingKey(before.metadata[field] ?? {}, after.metadata[field] ?? {}, own[field] ?? []);
    if (key !== undefined) return `changed ${field} ${key}`;
  }
  const [had, has] = [before.metadata.finalizers ?? [], after.metadata.finalizers ?? []];
  const moved = [...had.filter((one) => !has.includes(one)), ...has.filter((one) => !had.includes(one))];
  const foreign = moved.find((finalizer) => !own.finalizers?.includes(finalizer));
  return foreign === undefined ? undefined : `changed finalizer ${foreign}`;
}

function differingKey(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
  own: readonly string[],
): string | undefined {
  if (before === after) return undefined;
  for (const key in after) if (before[key] !== after[key] && !own.includes(key)) return key;
  for (const key in before) if (!(key in after) && !own.includes(key)) return key;
  return undefined;
}

const isSame = (one: unknown, other: unknown) => one === other || isDeepStrictEqual(one, other);

interface Entry {
  manager?: string;
  operation?: string;
  subresource?: string;
  fieldsV1?: Fields;
}
type Fields = { [key: string]: Fields };

const managedOf = ({ metadata }: KubernetesObject) => (metadata.managedFields ?? []) as readonly Entry[];

/** What the new managedFields show of a function. ensure-vmdi and preload own the spec of the images that they create. */
function managed(before: KubernetesObject, after: KubernetesObject, kind: Kind): string | undefined {
  const had = managedOf(before);
  for (const { manager, subresource, fieldsV1 } of managedOf(after)) {
    if (!isFunction(manager) || subresource !== undefined || fieldsV1 === undefined) continue;
    if (had.some((entry) => entry.manager === manager && isSame(entry.fieldsV1, fieldsV1))) continue;
    const own = owned[kind][manager] ?? {};
    const before = had.find((entry) => entry.manager === manager && entry.subresource === undefined)?.fieldsV1;
    const found = grabbed(fieldsV1, before, own);
    if (found) return `${manager} changed ${found}`;
  }
  return undefined;
}

function grabbed(fields: Fields, before: Fields | undefined, own: Owned): string | undefined {
  if (!own.spec && hasMore(fields['f:spec'], before?.['f:spec'])) return 'the spec';
  for (const field of ['labels', 'annotations', 'finalizers'] as const) {
    const [is, was] = [fields, before].map((one) => one?.['f:metadata']?.[`f:${field}`] ?? {});
    for (const key in is) {
      const name = key.replace(/^[fv]:/, '').replaceAll('"', '');
      if (key !== '.' && !(key in (was ?? {})) && !own[field]?.includes(name)) return `${field} ${name}`;
    }
  }
  return undefined;
}

/** A function has fewer fields after another manager took some. */
const hasMore = (fields: Fields | undefined, before: Fields | undefined): boolean =>
  Object.entries(fields ?? {}).some(([key, inner]) => !before?.[key] || hasMore(inner, before[key]));
