import { accountOf, type Tokens, type User } from './authentication.ts';
import type { ClusterState } from './cluster-state.ts';
import { isJsonObject, type JsonObject } from './objects.ts';
import { StatusError } from './status-error.ts';
import { issuer } from './token-request.ts';

/** The status of a TokenReview: the user of a token. An unknown token is answered, not refused; throws 400 without a token. */
export function reviewToken(state: ClusterState, tokens: Tokens, spec: JsonObject): JsonObject {
  const { token } = spec;
  if (!token) throw new StatusError(400, 'BadRequest', 'token is required for TokenReview in authentication');
  const user = userOf(tokens, String(token), state.clock.now());
  if (!user) return { user: {}, error: 'invalid bearer token' };
  const { namespace, name = '' } = accountOf(user.name) ?? {};
  const found = state.store.get('/serviceaccounts', namespace, name);
  if (!found) return { user: {}, error: `[invalid bearer token, serviceaccounts "${name}" not found]` };
  const { uid } = isJsonObject(found.metadata) ? found.metadata : {};
  return { authenticated: true, user: { username: user.name, uid, groups: user.groups }, audiences: [issuer] };
}

function userOf(tokens: Tokens, token: string, nowMs: number): User | undefined {
  try {
    return tokens.userOf(`Bearer ${token}`, nowMs);
  } catch (error) {
    if (error instanceof StatusError) return undefined;
    throw error;
  }
}
