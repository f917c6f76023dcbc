import { randomBytes } from 'node:crypto';
import { StatusError } from './status-error.ts';

/** Who asks, as authorisation sees it. */
export interface User {
  name: string;
  groups: string[];
}

/** Names a ServiceAccount. */
export interface ServiceAccountName {
  namespace: string;
  name: string;
}

/** Whoever comes from this machine without credentials: the server listens on loopback only. */
export const admin: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

/** The user that a ServiceAccount is to the API. */
export const serviceAccountUser = ({ namespace, name }: ServiceAccountName): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** Issues bearer tokens and tells whose a token is. */
export class Tokens {
  readonly #users = new Map<string, User>();
  readonly #issued = new Map<string, string>();

  /** The ServiceAccount's token; the same at each call. */
  tokenFor(account: ServiceAccountName): string {
    const user = serviceAccountUser(account);
    const token = this.#issued.get(user.name) ?? randomBytes(24).toString('base64url');
    this.#issued.set(user.name, token);
    this.#users.set(token, user);
    return token;
  }

  /** Whom an Authorization header names; throws 401 for a token that was never issued. */
  userOf(authorization: string | undefined): User {
    if (!authorization) return admin;
    const token = /^bearer (.+)$/i.exec(authorization)?.[1]?.trim();
    const user = token && this.#users.get(token);
    if (!user) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    return user;
  }
}
