import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { StatusError } from './status-error.ts';

/** Who asks, as authorisation sees it. */
export interface User {
  name: string;
  groups: string[];
}

export interface ServiceAccountName {
  namespace: string;
  name: string;
}

/** The user for requests without credentials: the server listens on loopback only. */
export const admin: User = { name: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] };

export const serviceAccountUser = ({ namespace, name }: ServiceAccountName): User => ({
  name: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
});

/** The ServiceAccount that a user is. */
export function accountOf(user: string): ServiceAccountName | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(user) ?? [];
  return namespace && name ? { namespace, name } : undefined;
}

/** A user of whom no more than the name is known, with the groups that it tells. */
export function userNamed(name: string): User {
  const account = accountOf(name);
  return account ? serviceAccountUser(account) : { name, groups: ['system:authenticated'] };
}

/** Issues bearer tokens and tells whose a token is. A token says it itself, signed, so that who has the key needs no memory. */
export class Tokens {
  readonly #key: Buffer;

  constructor(key: Buffer = randomBytes(32)) {
    this.#key = key;
  }

  /** The ServiceAccount's token until a moment, or for ever; the same at each call. */
  tokenFor({ namespace, name }: ServiceAccountName, expiresAtMs?: number): string {
    const text = expiresAtMs === undefined ? `${namespace}/${name}` : `${namespace}/${name}/${expiresAtMs}`;
    const account = Buffer.from(text).toString('base64url');
    return `${account}.${this.#signatureOf(account).toString('base64url')}`;
  }

  /** Whom an Authorization header names; throws 401 for a token that was never issued. */
  userOf(authorization: string | undefined, nowMs: number): User {
    if (!authorization) return admin;
    const [, account = '', signature = ''] = /^bearer +([\w-]+)\.([\w-]+)\s*$/i.exec(authorization) ?? [];
    const [expected, found] = [this.#signatureOf(account), Buffer.from(signature, 'base64url')];
    if (found.length !== expected.length || !timingSafeEqual(found, expected)) {
      throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    }
    const [namespace = '', name = '', expires] = Buffer.from(account, 'base64url').toString().split('/');
    if (expires !== undefined && nowMs >= Number(expires)) throw new StatusError(401, 'Unauthorized', 'Unauthorized');
    return serviceAccountUser({ namespace, name });
  }

  #signatureOf(account: string): Buffer {
    return createHmac('sha256', this.#key).update(account).digest();
  }
}
