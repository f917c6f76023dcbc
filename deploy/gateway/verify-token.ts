import { decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Config, Issuer } from './config.ts';
import { issuerKeys } from './issuer-keys.ts';
import { Refusal } from './refusal.ts';

/** A token that was found good: who signed it, and what it says of its bearer. */
export interface Verified {
  issuer: Issuer;
  claims: JWTPayload;
}

const clockToleranceSeconds = 30;
const maxTokenLength = 16 * 1024;

/** Checks bearer tokens against the issuers of a configuration; throws a Refusal: 401, or 503 while keys are out of reach. */
export function tokenVerifier({ issuers }: Config, now: () => number) {
  const known = new Map(issuers.map((issuer) => [issuer.issuer, { issuer, keys: issuerKeys(issuer, now) }]));
  return async (authorization: string | undefined): Promise<Verified> => {
    const token = bearerOf(authorization);
    const found = known.get(issuerOf(token));
    if (!found) throw unauthorized('expected a token of a configured issuer');
    return { issuer: found.issuer, claims: await check(token, found.issuer, found.keys, now) };
  };
}

function bearerOf(authorization: string | undefined): string {
  const [, token] = /^bearer +([\w.~+/=-]+)$/i.exec(authorization ?? '') ?? [];
  if (!token) throw unauthorized('expected a header "Authorization: Bearer <token of your CI>"');
  if (token.length > maxTokenLength) throw unauthorized(`expected a token of at most ${maxTokenLength} characters`);
  return token;
}

/** Not proven yet: it only chooses the keys that have to prove it. */
function issuerOf(token: string): string {
  try {
    return decodeJwt(token).iss ?? '';
  } catch {
    throw unauthorized('expected a JWT as the bearer token');
  }
}

async function check(token: string, issuer: Issuer, keys: JWTVerifyGetKey, now: () => number): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer: issuer.issuer,
      audience: issuer.audience,
      algorithms: issuer.algorithms,
      clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'sub'],
      currentDate: new Date(now()),
    });
    return payload;
  } catch (error) {
    throw asRefusal(error, issuer);
  }
}

function asRefusal(error: unknown, issuer: Issuer): Refusal {
  if (error instanceof errors.JWTExpired) return unauthorized('expected a token that has not expired');
  if (error instanceof errors.JWTClaimValidationFailed) {
    const wanted = error.claim === 'aud' ? ` with the audience ${issuer.audience}` : '';
    return unauthorized(
      `expected a token${wanted} whose claim "${error.claim}" is valid`,
      `claim ${error.claim}: ${error.reason}`,
    );
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return unauthorized(`expected a token signed with ${issuer.algorithms.join(' or ')}`);
  }
  const isAboutToken =
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JOSENotSupported;
  if (isAboutToken) return unauthorized('expected a token with a valid signature of its issuer', error.code);
  const why = error instanceof Error ? error.message : String(error);
  return new Refusal(503, `the keys of the issuer ${issuer.name} are out of reach just now; try again`, why);
}

const unauthorized = (sentence: string, detail?: string) => new Refusal(401, sentence, detail);
