import type { Kind } from './kind.ts';
import { isTrue } from './request-query.ts';
import type { ResourceTarget } from './request-target.ts';
import { methodNotAllowed, noSuchPath } from './status-error.ts';

/** What a request does, in RBAC's words. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'deletecollection';

/** The verb of a method on a target; undefined for a method that means nothing there. */
export function verbOf(
  method: string,
  { name, subresource }: ResourceTarget,
  query: URLSearchParams,
): Verb | undefined {
  // Of one object there is no watch but by a fieldSelector: the parameter means nothing then.
  if (method === 'GET') return name ? 'get' : isTrue(query, 'watch') ? 'watch' : 'list';
  if (!name) return ({ POST: 'create', DELETE: 'deletecollection' } as const)[method];
  if (subresource) return ({ POST: 'create', PUT: 'update', PATCH: 'patch' } as const)[method];
  return ({ PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const)[method];
}

/** Refuses paths and verbs that a kind does not have. */
export function assertServed({ kind, namespace, name, subresource }: ResourceTarget, verb: Verb | undefined): Kind {
  if (!kind || (subresource && !subresourcesOf(kind).includes(subresource))) throw noSuchPath();
  if (!kind.namespaced && namespace) throw noSuchPath();
  if (kind.namespaced && !namespace && name) throw noSuchPath();
  if (verb && !verbsOf(kind, subresource).includes(verb)) throw methodNotAllowed();
  const needsNamespace = verb === 'create' || verb === 'deletecollection';
  if (!verb || (kind.namespaced && !namespace && needsNamespace)) throw methodNotAllowed();
  return kind;
}

/** What there is beside a kind's objects themselves. */
export const subresourcesOf = (kind: Kind): string[] => [
  ...(kind.scale ? ['scale'] : []),
  ...(kind.statusSubresource ? ['status'] : []),
  ...(kind.group === '' && kind.kind === 'ServiceAccount' ? ['token'] : []),
];

const everything: Verb[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
// In the order in which the real server tells them of custom resources.
const ofCustom: Verb[] = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];
const ofStatus: Verb[] = ['get', 'patch', 'update'];

/** What may be done with a kind's objects, or with a subresource of them. */
export function verbsOf(kind: Kind, subresource: string): readonly string[] {
  if (subresource === 'token') return ['create'];
  return subresource ? ofStatus : (kind.verbs ?? (kind.custom ? ofCustom : everything));
}
