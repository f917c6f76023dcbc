import * as z from 'zod';

/** Texts by name. Not a z.record, which would parse each name as well, in every object that is read. */
const Texts = z.object({}).catchall(z.string());

/** The metadata of any Kubernetes object, as far as anything here reads it; unknown fields are kept. */
export const ObjectMeta = z.looseObject({
  name: z.string(),
  namespace: z.string().optional(),
  uid: z.string().default(''),
  resourceVersion: z.string().default(''),
  generation: z.number().default(0),
  creationTimestamp: z.string().default(''),
  deletionTimestamp: z.string().optional(),
  labels: Texts.optional(),
  annotations: Texts.optional(),
  finalizers: z.array(z.string()).optional(),
  ownerReferences: z
    .array(
      z.looseObject({
        apiVersion: z.string(),
        kind: z.string(),
        name: z.string(),
        uid: z.string(),
        controller: z.boolean().optional(),
        blockOwnerDeletion: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type ObjectMeta = z.infer<typeof ObjectMeta>;

/** What every object read from the API server has. */
export interface KubernetesObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** A kind as its clients see it: where it lives in the API, and how an object of it is read. */
export interface Resource<T extends KubernetesObject = KubernetesObject> {
  apiVersion: string;
  kind: string;
  plural: string;
  namespaced: boolean;
  /** Passwords may be in its objects: what the API server says of one is in no log. */
  holdsPasswords?: boolean;
  /** Reads an object the API server sent; throws a ZodError when it is no object of this kind at all. */
  parse(value: unknown): T;
}

/** Declares a kind from the zod shape of its fields beside apiVersion, kind and metadata; unknown fields are kept. */
export function defineResource<S extends z.ZodRawShape>(
  where: { apiVersion: string; kind: string; plural: string; namespaced?: boolean; holdsPasswords?: true },
  shape: S,
) {
  const schema = z.looseObject({
    apiVersion: z.literal(where.apiVersion).default(where.apiVersion),
    kind: z.literal(where.kind).default(where.kind),
    metadata: ObjectMeta,
    ...shape,
  });
  type T = z.infer<typeof schema> & KubernetesObject;
  return { ...where, namespaced: where.namespaced ?? true, parse: (value: unknown) => schema.parse(value) as T };
}

/** The type of the objects of a resource: `type DataVolume = ObjectOf<typeof DataVolume>`. */
export type ObjectOf<R> = R extends { parse(value: unknown): infer T } ? T : never;

/** Names one object of a kind; `namespace` is absent for a cluster-scoped one. */
export interface ObjectReference {
  namespace?: string | undefined;
  name: string;
}

/** One object among those of its kind: `namespace/name`, or `name` of a cluster-scoped one. */
export const keyOf = ({ namespace, name }: ObjectReference) => (namespace ? `${namespace}/${name}` : name);

/** The object in a namespace that a key names. */
export function referenceIn(key: string): ObjectReference {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

/** An object in a message: "Deployment ws-demo/chef". */
export const nameOf = ({ kind }: Pick<Resource, 'kind'>, ref: ObjectReference) => `${kind} ${keyOf(ref)}`;

/** Orders resourceVersions by age: of one kind they are numbers that grow (KEP-5504). Any is newer than the empty one. */
export const compareVersions = (a: string, b: string) => a.length - b.length || a.localeCompare(b);

export const referenceOf = (object: {
  metadata: { name: string; namespace?: string | undefined };
}): ObjectReference => ({
  namespace: object.metadata.namespace,
  name: object.metadata.name,
});
