import { badRequest } from './status-error.ts';

/** Where the next page of a list begins, and of which resourceVersion it is; -1 is whatever is newest. */
interface Continuation {
  resourceVersion: number;
  /** The first key that is not told yet: `name`, or `namespace/name` where the list is over all namespaces. */
  start: string;
}

/** The page that begins right after an object. */
export const after = (key: string) => `${key}\u0000`;

/** The token a client sends back for the next page, as the real server writes it (k8s.io/apiserver, storage/continue.go). */
export const continueToken = ({ resourceVersion, start }: Continuation) =>
  Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: resourceVersion, start })).toString('base64url');

/** Parses a token; throws 400 if it is invalid. */
export function continuation(token: string): Continuation {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, 'base64url').toString()) as { rv: number; start: string };
    if (Number.isSafeInteger(rv) && rv !== 0 && typeof start === 'string') return { resourceVersion: rv, start };
  } catch {
    // Answered below: whatever is wrong with it, it is no token of ours.
  }
  throw badRequest(`invalid continue token: continue key is not valid: ${token}`);
}
