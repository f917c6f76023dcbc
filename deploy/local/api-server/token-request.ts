import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Tokens } from './authentication.ts';
import type { ObjectPlace } from './cluster-state.ts';
import { type ClusterState, timestamp } from './cluster-state.ts';
import { isJsonObject, type JsonObject } from './objects.ts';
import { invalid as invalidField } from './schema-cause.ts';
import { invalid, notFound } from './status-error.ts';

/** Who issues tokens, and whom they are for. */
export const issuer = 'https://kubernetes.default.svc.cluster.local';
const usualSeconds = 3600;
const leastSeconds = 600;

/** A TokenRequest for a ServiceAccount, with its token; throws 404 where there is no such account, 422 for too short a life. */
export function requestToken(state: ClusterState, tokens: Tokens, place: ObjectPlace, body: unknown): JsonObject {
  const account = state.store.get('/serviceaccounts', place.namespace, place.name);
  if (!account) throw notFound({ group: '', resource: 'serviceaccounts' }, place.name);
  const spec = isJsonObject(body) && isJsonObject(body.spec) ? body.spec : {};
  const expirationSeconds = Number(spec.expirationSeconds ?? usualSeconds);
  if (!(expirationSeconds >= leastSeconds)) {
    const why = 'may not specify a duration less than 10 minutes';
    const cause = invalidField('spec.expirationSeconds', expirationSeconds, why);
    throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [cause]);
  }
  const { name, namespace = '', uid } = account.metadata;
  const expiresAtMs = state.clock.now() + expirationSeconds * 1000;
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid, creationTimestamp: timestamp(state.clock) },
    spec: { audiences: spec.audiences ?? [issuer], expirationSeconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: {
      token: tokens.tokenFor({ namespace, name }, expiresAtMs),
      expirationTimestamp: toTime(expiresAtMs),
    },
  };
}
