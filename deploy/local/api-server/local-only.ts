import type { IncomingMessage } from 'node:http';
import { StatusError } from './status-error.ts';

/**
 * Refuses a browser that was led here: by a name that someone else's DNS points at 127.0.0.1, or by a page of another
 * origin. A client without a token is an admin.
 */
export function assertLocal({ headers: { host = '', origin } }: IncomingMessage) {
  const isLocal = (authority: string) => /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(authority);
  if (!isLocal(host)) {
    const found = JSON.stringify(host);
    throw new StatusError(
      403,
      'Forbidden',
      `the Host header must name this machine (localhost or 127.0.0.1), not ${found}`,
    );
  }
  if (origin !== undefined && !isLocal(origin.replace(/^https?:\/\//, ''))) {
    throw new StatusError(403, 'Forbidden', `pages of ${origin} may not use this server`);
  }
}
