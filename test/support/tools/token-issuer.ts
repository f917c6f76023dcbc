import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { testCertificate } from './certificate.ts';

/** A CI's OIDC issuer over HTTPS, on loopback unless told otherwise, with keys of its own. */
interface TestIssuer {
  url: string;
  /** The certificate to trust it by. */
  caFile: string;
  /** A token as this issuer signs it, with what differs from a good one; `expires` counts from now. */
  token(
    claims?: JWTPayload,
    how?: { expires?: string; algorithm?: 'RS256' | 'ES256' | 'PS256'; key?: 'own' | 'foreign' },
  ): Promise<string>;
  /** Paths that were asked for, in order. */
  asked: string[];
  /** What it answers instead of the usual, by path. */
  answers: Map<string, (response: ServerResponse) => void>;
  close(): Promise<void>;
}

/** Starts the issuer, at a free port unless told otherwise; its good tokens are for `audience`, and from a tag of labs/images. */
export async function startTestIssuer(audience: string, host = '127.0.0.1', port = 0): Promise<TestIssuer> {
  const certificate = testCertificate(host);
  const folder = await mkdtemp(join(tmpdir(), 'test-issuer-'));
  const caFile = join(folder, 'ca.crt');
  await writeFile(caFile, certificate.cert);
  const pairs = {
    RS256: await generateKeyPair('RS256'),
    PS256: await generateKeyPair('PS256'),
    ES256: await generateKeyPair('ES256'),
  };
  const foreign = await generateKeyPair('RS256');
  const keys = await Promise.all(
    Object.entries(pairs).map(async ([alg, { publicKey }]) => ({
      ...(await exportJWK(publicKey)),
      kid: alg,
      alg,
      use: 'sig',
    })),
  );
  const asked: string[] = [];
  const answers: TestIssuer['answers'] = new Map();
  const server = createServer(certificate, (request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const json = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    const answer = answers.get(path);
    if (answer) answer(response);
    else if (path === '/.well-known/openid-configuration') json({ issuer: url, jwks_uri: `${url}/keys` });
    else if (path === '/keys') json({ keys });
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  const url = `https://${host}:${(server.address() as AddressInfo).port}`;
  const usual = { repository: 'labs/images', ref: 'refs/tags/v1.0.0', sub: 'repo:labs/images:ref:refs/tags/v1.0.0' };
  return {
    url,
    caFile,
    asked,
    answers,
    token: (claims = {}, { expires = '5m', algorithm = 'RS256', key = 'own' } = {}) =>
      new SignJWT({ iss: url, aud: audience, ...usual, ...claims })
        .setProtectedHeader({ alg: algorithm, kid: algorithm })
        .setIssuedAt()
        .setExpirationTime(expires)
        .sign(key === 'own' ? pairs[algorithm].privateKey : foreign.privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}
