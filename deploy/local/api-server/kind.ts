import type { ApiObject, JsonObject } from './objects.ts';
import type { Cause, CompiledSchema } from './schema.ts';
import type { GroupResource } from './status-error.ts';

/** One column of `kubectl get`. A cell of type `date` is given as a timestamp and shown as an age. */
export interface Column {
  name: string;
  type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  format?: string;
  description?: string;
  /** Above 0: only with `-o wide`. */
  priority?: number;
  cell(object: ApiObject, nowMs: number): unknown;
}

/** How the names of a kind must look, in the words of the server's own validation functions. */
export type NameRule = 'subdomain' | 'label' | 'label1035' | 'path segment';

/** Where a kind keeps how many replicas it should have and has, and, for a custom resource, the selector of its Pods as text. */
export interface ScalePaths {
  wanted: string[];
  found: string[];
  selector?: string[];
}

/** One version of one kind as the API serves it: where, under which rules, and how `kubectl get` shows it. */
export interface Kind {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  shortNames: string[];
  categories: string[];
  namespaced: boolean;
  /** Custom resources differ: there is no strategic merge, a body must name its kind, a null is kept. */
  custom: boolean;
  /** The version objects are kept in; for a custom resource with several versions. */
  storageVersion: string;
  statusSubresource: boolean;
  /** Where its replicas are, if it has the subresource `scale`. */
  scale?: ScalePaths;
  /** Whether metadata.generation counts changes of what the user wants. */
  hasGeneration: boolean;
  /** Whether PUT needs no resourceVersion, and then wins over whatever was written meanwhile. */
  replacesUnconditionally: boolean;
  /** Whether PUT to a name that does not exist creates it. */
  createsOnUpdate: boolean;
  /** Whether DELETE answers with the object rather than a Status. */
  returnsDeleted: boolean;
  /** Whether what an object owns stays when the DELETE of it doesn't say otherwise. */
  orphansDependents?: boolean;
  nameRule: NameRule;
  /** What a fieldSelector may name beside metadata.name and metadata.namespace. */
  selectableFields: string[];
  columns: Column[];
  schema?: CompiledSchema;
  /** Writes are not validated: for simulations, which make millions. */
  isUnchecked?: boolean;
  /** Writes are not recorded in managedFields, except by an apply: for simulations, too. */
  isUnrecorded?: boolean;
  /** The OpenAPI schema that `kubectl explain` shows. */
  openApiSchema?: JsonObject;
  /** What may be done with the kind, where that is not everything. */
  verbs?: string[];
  /** The kind whose objects these are, where they are kept as another, and how one becomes the other. */
  keptAs?: {
    group: string;
    plural: string;
    kept(shown: ApiObject): ApiObject;
    shown(kept: ApiObject): ApiObject;
  };
  /** Sets what the server itself sets on a new object: defaults, first status. */
  prepareForCreate?(object: ApiObject, now: string): void;
  prepareForUpdate?(object: ApiObject, old: ApiObject, now: string): void;
  validate?(object: ApiObject, old?: ApiObject): Cause[];
  /** What the kind says of itself once it is marked as going. */
  prepareForDelete?(object: ApiObject): ApiObject;
  /** Seconds between a DELETE and the end of the object, where its kind dies gracefully. */
  gracePeriodSeconds?(object: ApiObject): number;
  /** Whether something beside metadata.finalizers holds a deleted object. */
  isHeld?(object: ApiObject): boolean;
}

export const apiVersionOf = (kind: { group: string; version: string }) =>
  kind.group ? `${kind.group}/${kind.version}` : kind.version;

export const groupResourceOf = (kind: Kind): GroupResource => ({ group: kind.group, resource: kind.plural });

/** The store's key of a resource; all versions of a kind share it. */
export const storeKeyOf = (kind: Pick<Kind, 'group' | 'plural' | 'keptAs'>) => {
  const { group, plural } = kind.keptAs ?? kind;
  return `${group}/${plural}`;
};

/** An object as this version of its kind shows it. */
export const presented = (kind: Kind, object: ApiObject): ApiObject => {
  if (object.apiVersion === apiVersionOf(kind)) return object;
  return kind.keptAs ? kind.keptAs.shown(object) : { ...object, apiVersion: apiVersionOf(kind) };
};

/** The kind in error messages: the kind that the object is stored as. */
export const faultyKind = ({ group, kind, keptAs }: Kind) => ({ group: keptAs?.group ?? group, kind });

/** An object as the store keeps it. */
export const keptForm = (kind: Kind, object: ApiObject): ApiObject =>
  kind.keptAs
    ? kind.keptAs.kept(object)
    : { ...object, apiVersion: apiVersionOf({ group: kind.group, version: kind.storageVersion }) };

/** All kinds that are served at the moment; CustomResourceDefinitions add and remove theirs. */
export class KindRegistry {
  readonly #kinds = new Map<string, Kind>();

  constructor(kinds: readonly Kind[]) {
    for (const kind of kinds) this.add(kind);
  }

  add(kind: Kind) {
    this.#kinds.set(`${apiVersionOf(kind)}/${kind.plural}`, kind);
  }

  /** Stops serving a resource in all its versions. */
  remove(group: string, plural: string) {
    for (const [key, kind] of this.#kinds) if (kind.group === group && kind.plural === plural) this.#kinds.delete(key);
  }

  find(group: string, version: string, plural: string): Kind | undefined {
    return this.#kinds.get(`${group ? `${group}/` : ''}${version}/${plural}`);
  }

  byKind(apiVersion: string, kind: string): Kind | undefined {
    return this.all().find((candidate) => apiVersionOf(candidate) === apiVersion && candidate.kind === kind);
  }

  /** Any one version of a resource. */
  anyVersion(group: string, plural: string): Kind | undefined {
    return this.all().find((kind) => kind.group === group && kind.plural === plural);
  }

  all(): Kind[] {
    return [...this.#kinds.values()];
  }
}
