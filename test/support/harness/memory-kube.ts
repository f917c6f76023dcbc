import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../../shared/kinds/resource.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import type { Kube, ListOptions } from '../../../shared/runtime/kube.ts';

type Stored = KubernetesObject & Record<string, unknown>;
type Tree = Record<string, unknown>;

/** An API server of a few lines, for lives that are lived by the dozen: no schemas, no roles, no history. */
export function memoryKube(): Kube {
  const objects = new Map<string, Stored>();
  let version = 0;
  const keyIn = ({ apiVersion, kind }: Resource, ref: ObjectReference) => `${apiVersion} ${kind} ${keyOf(ref)}`;
  const found = (resource: Resource, ref: ObjectReference) => {
    const object = objects.get(keyIn(resource, ref));
    if (!object) throw new ApiError(404, 'NotFound', `${resource.kind} ${ref.name} not found`);
    return object;
  };
  const keep = (resource: Resource, object: Stored): Stored => {
    const metadata = { ...object.metadata, resourceVersion: String(++version) };
    const kept = { ...object, metadata };
    const isGone = metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).length === 0;
    if (isGone) objects.delete(keyIn(resource, metadata));
    else objects.set(keyIn(resource, metadata), kept);
    return kept;
  };
  const some: Partial<Kube> = {
    get: async (resource, ref) => {
      const object = objects.get(keyIn(resource, ref));
      return object && resource.parse(structuredClone(object));
    },
    list: async (resource, options = {}) => {
      const found = [...objects.values()]
        .filter(({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind)
        .filter((object) => isListed(object, options));
      return found.map((object) => resource.parse(structuredClone(object)));
    },
    async *pages(resource, options) {
      yield { items: (await some.list?.(resource, options)) ?? [], resourceVersion: String(version) };
    },
    create: async (resource, object) => {
      const { metadata, ...rest } = object as Stored;
      if (objects.has(keyIn(resource, metadata))) throw new ApiError(409, 'AlreadyExists', `${metadata.name} exists`);
      const made = { ...metadata, uid: crypto.randomUUID(), generation: 1 };
      const { apiVersion, kind } = resource;
      return resource.parse(structuredClone(keep(resource, { ...rest, apiVersion, kind, metadata: made })));
    },
    replace: async (resource, object) => {
      if (found(resource, object.metadata).metadata.resourceVersion !== object.metadata.resourceVersion)
        throw new ApiError(409, 'Conflict', 'the object has been modified');
      return resource.parse(structuredClone(keep(resource, object as unknown as Stored)));
    },
    patch: async (resource, ref, patch, { subresource } = {}) => {
      const before = found(resource, ref);
      const { resourceVersion, uid, ...metadata } = ((patch as Tree).metadata ?? {}) as Tree;
      if (resourceVersion !== undefined && resourceVersion !== before.metadata.resourceVersion)
        throw new ApiError(409, 'Conflict', 'the object has been modified');
      if (uid !== undefined && uid !== before.metadata.uid)
        throw new ApiError(409, 'Conflict', 'the object is another');
      const { status, ...rest } = patch as Tree;
      const change = subresource === 'status' ? { status } : { ...rest, metadata };
      const after = merged(before, change) as Stored;
      const isSpec = JSON.stringify(after.spec) !== JSON.stringify(before.spec);
      const generation = before.metadata.generation + Number(isSpec);
      const kept = keep(resource, { ...after, metadata: { ...after.metadata, generation } });
      return resource.parse(structuredClone(kept));
    },
    delete: async (resource, ref) => {
      const object = objects.get(keyIn(resource, ref));
      if (!object) return;
      keep(resource, { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    },
  };
  return some as Kube;
}

/** `status.phase!=Available,metadata.name=x`, `key`, `key=value` and `key in (a,b)` are all that anybody selects by. */
function isListed(object: Stored, { namespace, fieldSelector, labelSelector }: ListOptions): boolean {
  const isSelected = (fieldSelector?.split(',') ?? []).every((one) => {
    const [, path = '', sign, value] = /^([\w.]+)(!?=)(.*)$/.exec(one) ?? [];
    const is = path.split('.').reduce<unknown>((inner, step) => (inner as Tree | undefined)?.[step], object) ?? '';
    return (is === value) === (sign === '=');
  });
  const [, label = '', values] = /^([\w./-]+)(?:(?:=| in \()([^)]*)\)?)?$/.exec(labelSelector ?? '') ?? [];
  const labelled = object.metadata.labels?.[label];
  const isLabelled =
    label === '' || (labelled !== undefined && (values === undefined || values.split(',').includes(labelled)));
  return isSelected && isLabelled && (namespace === undefined || object.metadata.namespace === namespace);
}

/** RFC 7386. */
function merged(before: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Tree = { ...(before as Tree | undefined) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}
