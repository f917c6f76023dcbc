import { createRemoteJWKSet, customFetch, type JWTVerifyGetKey } from 'jose';
import * as z from 'zod';
import type { Issuer } from './config.ts';
import { getHttps } from './get-https.ts';

const Discovery = z.object({ issuer: z.string(), jwks_uri: z.string() });

/** An issuer that just failed is left alone, so that bad tokens cannot make us hammer it. */
const restMs = 5000;

/** The public keys of an issuer, fetched when first needed and again when a token names one we do not have. */
export function issuerKeys(issuer: Issuer, now: () => number): JWTVerifyGetKey {
  const body = (url: URL) => getHttps(url, { caFile: issuer.caFile });
  let failed: { error: unknown; atMs: number } | undefined;
  const unlessJustFailed = async <T>(work: () => Promise<T>): Promise<T> => {
    if (failed && now() - failed.atMs < restMs) throw failed.error;
    try {
      return await work();
    } catch (error) {
      failed = { error, atMs: now() };
      throw error;
    }
  };
  const fetchKeys = (url: string) => unlessJustFailed(async () => new Response(await body(new URL(url))));
  const find = () =>
    unlessJustFailed(async () => createRemoteJWKSet(await keysUrl(issuer, body), { [customFetch]: fetchKeys }));
  let found: Promise<JWTVerifyGetKey> | undefined;
  return async (header, token) => {
    found ??= find();
    const keys = await found.catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return keys(header, token);
  };
}

/** Where the configuration says, else where the issuer's own discovery document says, as long as it stays at home. */
async function keysUrl({ issuer, jwksUri }: Issuer, body: (url: URL) => Promise<string>): Promise<URL> {
  if (jwksUri) return new URL(jwksUri);
  const at = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
  const discovery = Discovery.parse(JSON.parse(await body(at)));
  if (discovery.issuer !== issuer)
    throw new Error(`expected ${at.host} to call itself ${issuer}, found ${discovery.issuer}`);
  const url = new URL(discovery.jwks_uri);
  if (url.origin !== at.origin) {
    throw new Error(
      `expected the keys of ${issuer} at its own host, found ${url.origin}: set jwksUri if that is right`,
    );
  }
  return url;
}
