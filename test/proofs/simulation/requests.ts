import type { ClusterState, WriteOptions } from '../../../deploy/local/api-server/cluster-state.ts';
import { createObject } from '../../../deploy/local/api-server/create-object.ts';
import { deleteObject } from '../../../deploy/local/api-server/delete-object.ts';
import { type Kind, presented, storeKeyOf } from '../../../deploy/local/api-server/kind.ts';
import { listObjects } from '../../../deploy/local/api-server/list-objects.ts';
import { patchObject } from '../../../deploy/local/api-server/patch-object.ts';
import { replaceObject } from '../../../deploy/local/api-server/replace-object.ts';
import { StatusError } from '../../../deploy/local/api-server/status-error.ts';
import type { KubernetesObject, ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import type { Kube, ListOptions, Preconditions } from '../../../shared/runtime/kube.ts';

/** A request to the API server. */
export interface Request {
  verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'apply' | 'delete';
  resource: Resource;
  ref: { namespace?: string | undefined; name?: string };
  /** The preconditions of a deletion. */
  preconditions?: Preconditions;
  /** The page of a list, and its selector. */
  page?: number;
  selector?: string;
}

export const isWrite = ({ verb }: Request) => verb !== 'get' && verb !== 'list';

/** Delivers a request and its answer: immediately, late or never. */
export type Carry = <T>(request: Request, run: Run<T>) => Promise<T>;

/** Performs a request as the API server does; a read may return an earlier resourceVersion. */
export type Run<T> = (asOf?: number) => Promise<T>;

/** A stored object never changes and is read often, so it is parsed once and its copies are shared. */
const parsed = new WeakMap<object, KubernetesObject>();

export function parse<T extends KubernetesObject>(resource: Resource<T>, object: object): T {
  const known = parsed.get(object);
  if (known) return known as T;
  const found = resource.parse(object);
  parsed.set(object, found);
  return found;
}

const newest = { resourceVersion: '', resourceVersionMatch: '' } as const;

/** The objects per page: few, so that lists have several pages. */
const pageSize = 2;

/** A client of the API server without a network: `carry` delivers every request. */
export function kubeOf(state: ClusterState, fieldManager: string, carry: Carry): Kube {
  const write: WriteOptions = {
    user: fieldManager,
    fieldManager,
    dryRun: false,
    // An unknown field is a mistake of the function.
    fieldValidation: 'Strict',
    warn: () => undefined,
  };
  const kinds = new Map<Resource, Kind>();
  const kindIn = (resource: Resource) => {
    const kind = kinds.get(resource) ?? kindOf(state, resource);
    kinds.set(resource, kind);
    return kind;
  };
  const placeOf = ({ namespaced }: Resource, { namespace, name }: ObjectReference) => ({
    namespace: namespaced ? namespace : undefined,
    name,
  });

  async function* pages<T extends KubernetesObject>(resource: Resource<T>, options: ListOptions = {}) {
    let next = '';
    for (let page = 0; ; page++) {
      const { namespace, labelSelector = '', fieldSelector = '' } = options;
      const query = { labelSelector, fieldSelector, limit: pageSize, continue: next };
      const selector = [labelSelector, fieldSelector].filter(Boolean).join(' ');
      const list = await carry({ verb: 'list', resource, ref: { namespace }, page, selector }, async (asOf) => {
        // The next pages of a list show the same resourceVersion as the first.
        const at =
          asOf === undefined || next ? newest : { resourceVersion: String(asOf), resourceVersionMatch: 'Exact' };
        return listObjects(state, kindIn(resource), { ...query, ...at, namespace });
      });
      yield { items: list.items.map((item) => parse(resource, item)), resourceVersion: list.resourceVersion };
      if (!list.continue) return;
      next = list.continue;
    }
  }

  const patch = async <T extends KubernetesObject>(
    verb: 'patch' | 'apply',
    resource: Resource<T>,
    ref: ObjectReference,
    { body, subresource = '', force = false }: { body: unknown; subresource?: '' | 'status'; force?: boolean },
  ) => {
    const mediaType = verb === 'apply' ? 'application/apply-patch+yaml' : 'application/merge-patch+json';
    const change = { place: placeOf(resource, ref), subresource, mediaType, patch: body, force };
    const { object } = await carry({ verb, resource, ref }, () => patchObject(state, kindIn(resource), change, write));
    return parse(resource, object);
  };

  return {
    pages,
    async get(resource, ref) {
      const found = await carry({ verb: 'get', resource, ref }, async (asOf) => {
        const kind = kindIn(resource);
        const { namespace, name } = placeOf(resource, ref);
        const object =
          asOf === undefined
            ? state.store.get(storeKeyOf(kind), namespace, name)
            : state.store.listAt(storeKeyOf(kind), namespace, asOf).find(({ metadata }) => metadata.name === name);
        return object && presented(kind, object);
      });
      return found && parse(resource, found);
    },
    async list<T extends KubernetesObject>(resource: Resource<T>, options?: ListOptions) {
      const items: T[] = [];
      for await (const page of pages(resource, options)) items.push(...page.items);
      return items;
    },
    async create(resource, object) {
      const { metadata } = object as { metadata: ObjectReference };
      const body = named(resource, object);
      const made = await carry({ verb: 'create', resource, ref: metadata }, () =>
        createObject(state, kindIn(resource), placeOf(resource, metadata).namespace, body, write),
      );
      return parse(resource, made);
    },
    async replace(resource, object) {
      const place = placeOf(resource, object.metadata);
      const { object: replaced } = await carry({ verb: 'replace', resource, ref: object.metadata }, () =>
        replaceObject(state, kindIn(resource), place, '', object, write),
      );
      return parse(resource, replaced);
    },
    patch: (resource, ref, body, { subresource } = {}) =>
      patch('patch', resource, ref, { body, ...(subresource ? { subresource } : {}) }),
    apply: (resource, object, { force, subresource }) =>
      patch('apply', resource, object.metadata, {
        body: named(resource, object),
        ...(subresource ? { subresource } : {}),
        ...(force ? { force } : {}),
      }),
    async delete(resource, ref, preconditions) {
      const options = { user: fieldManager, preconditions, propagationPolicy: 'Background' } as const;
      await carry({ verb: 'delete', resource, ref, ...(preconditions ? { preconditions } : {}) }, () =>
        deleteObject(state, kindIn(resource), placeOf(resource, ref), options),
      ).catch(unlessGone);
    },
    watch: () => Promise.reject(new Error('expected no function to watch')),
  };
}

export function kindOf(state: ClusterState, { apiVersion, plural }: Resource): Kind {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  const kind = state.kinds.find(group, version, plural);
  if (!kind) throw new Error(`expected ${plural} of ${apiVersion} to be served, found none`);
  return kind;
}

const named = ({ apiVersion, kind }: Resource, object: unknown) => ({ apiVersion, kind, ...(object as object) });

function unlessGone(error: unknown): undefined {
  if (error instanceof ApiError && error.status === 404) return undefined;
  throw error;
}

/** The error that the client throws for this answer. */
export function asSeenByClient(error: unknown): unknown {
  return error instanceof StatusError ? new ApiError(error.status, error.reason, error.message) : error;
}
