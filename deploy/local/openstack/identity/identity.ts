import type { Cloud } from '../cloud.ts';
import { Refusal, titleOf } from '../refusal.ts';
import { type Asked, done, type Route, route } from '../route.ts';
import type { Service } from '../service.ts';
import { credentialRoutes } from './credentials.ts';
import { logIn } from './log-in.ts';
import { projectRoutes } from './projects.ts';
import { mustBeAdmin, shownToken, tokenOf, tokenPrefix } from './tokens.ts';
import { userRoutes } from './users.ts';

/** Keystone: the users, their roles, and the addresses of the other services. */
export const identityService = (cloud: Cloud): Service => ({
  name: 'identity',
  prefix: '/identity/v3',
  routes: [...tokenRoutes(cloud), ...projectRoutes(cloud), ...userRoutes(cloud), ...credentialRoutes(cloud)],
  refusalBody: keystoneBody,
});

/** The middleware in front of every service also answers in this form to an invalid token. */
export const keystoneBody = ({ status, message }: Refusal) => ({
  error: { code: status, message, title: titleOf(status) },
});

function tokenRoutes(cloud: Cloud): Route[] {
  const subject = ({ headers, caller }: Asked, rule: string) => {
    const id = headers['x-subject-token'];
    if (id !== caller.token.id) mustBeAdmin(caller, rule);
    const token = tokenOf(cloud, id);
    if (!token)
      throw new Refusal(
        404,
        id?.startsWith(tokenPrefix) ? 'Failed to validate token' : 'Could not recognize Fernet token',
      );
    return token;
  };
  return [
    route(
      'POST /auth/tokens',
      'createToken',
      ({ body }) => {
        const token = logIn(cloud, body);
        return {
          status: 201,
          body: shownToken(cloud, token),
          headers: { 'x-subject-token': token.id, vary: 'X-Auth-Token' },
        };
      },
      true,
    ),
    route('GET /auth/tokens', 'showToken', (asked) => {
      const token = subject(asked, 'identity:validate_token');
      return { status: 200, body: shownToken(cloud, token), headers: { 'x-subject-token': token.id } };
    }),
    route('HEAD /auth/tokens', 'checkToken', (asked) => {
      subject(asked, 'identity:check_token');
      return done(200);
    }),
    route('DELETE /auth/tokens', 'deleteToken', (asked) => {
      cloud.identity.tokens.delete(subject(asked, 'identity:revoke_token').id);
      return done();
    }),
  ];
}
