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
  if (method === 'GET') return isTrue(query, 'watch') ? 'watch' : name ? 'get' : 'list';
  if (!name) return ({ POST: 'create', DELETE: 'deletecollection' } as const)[method];
  if (subresource) return ({ PUT: 'update', PATCH: 'patch' } as const)[method];
  return ({ PUT: 'update', PATCH: 'patch', DELETE: 'delete' } as const)[method];
}

/** Refuses paths and verbs that a kind does not have. */
export function assertServed({ kind, namespace, name, subresource }: ResourceTarget, verb: Verb | undefined): Kind {
  if (!kind || (subresource && !(subresource === 'status' && kind.statusSubresource))) throw noSuchPath();
  if (!kind.namespaced && namespace) throw noSuchPath();
  if (kind.namespaced && !namespace && name) throw noSuchPath();
  const needsNamespace = verb === 'create' || verb === 'deletecollection';
  if (!verb || (kind.namespaced && !namespace && needsNamespace)) throw methodNotAllowed();
  return kind;
}
