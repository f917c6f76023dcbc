import type { IncomingHttpHeaders } from 'node:http';
import { accountOf, serviceAccountUser, type User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { authorise } from './rbac.ts';

/** Whom a request is made as: who sent it, or whom its Impersonate headers name; throws 403 where that is not allowed. */
export function impersonated(state: ClusterState, sender: User, headers: IncomingHttpHeaders): User {
  const name = headers['impersonate-user'];
  if (typeof name !== 'string' || !name) return sender;
  const asked = headers['impersonate-group'];
  const groups = [asked ?? []]
    .flat()
    .flatMap((each) => each.split(','))
    .map((each) => each.trim());
  const account = accountOf(name);
  const about = { group: '', subresource: '' };
  if (account) authorise(state, sender, 'impersonate', { ...about, plural: 'serviceaccounts', ...account });
  else authorise(state, sender, 'impersonate', { ...about, plural: 'users', namespace: undefined, name });
  for (const each of groups) {
    authorise(state, sender, 'impersonate', { ...about, plural: 'groups', namespace: undefined, name: each });
  }
  if (account && groups.length === 0) return serviceAccountUser(account);
  return { name, groups: [...new Set([...groups, 'system:authenticated'])] };
}
