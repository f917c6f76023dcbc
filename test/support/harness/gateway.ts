import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Images, LogLine } from '../../../deploy/gateway/app.ts';
import { imageMaker } from '../../../deploy/gateway/make-image.ts';
import { type Gateway, type GatewaySettings, startGateway } from '../../../deploy/gateway/start.ts';
import { verified } from '../../../functions/preload/index.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { telemetryOf } from '../../../shared/runtime/telemetry/telemetry.ts';
import { publicationKey } from '../builders/publications.ts';
import { startTestIssuer } from '../tools/token-issuer.ts';

/** The headers of a publication, binary. */
export const event = {
  'content-type': 'application/json',
  'ce-specversion': '1.0',
  'ce-id': '4711.1',
  'ce-source': 'https://github.example/labs/images',
  'ce-type': 'ot.pelotech.image.published.v1',
};
export const data = { name: 'lab-151-attacker', version: 'v1.0.0', digest: 'sha256:0123' };

/** What the gateway signs with. */
export const signingKey = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;

interface Sent {
  url?: string;
  token?: string | undefined;
  headers?: Record<string, string>;
  body?: string;
}

/** An issuer, a Broker, and a gateway between them that lets tags of labs/images publish lab-*, whose images `images` makes and finds. */
export async function startTestWorld(images: Images = { make: async () => undefined, find: async () => undefined }) {
  const issuer = await startTestIssuer('ot-preload');
  const broker = await startBroker();
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const lines: LogLine[] = [];
  const path = (name: string) => join(folder, name);
  const write = (name: string, text: string) => writeFile(path(name), text);
  const usual = tagsOf(issuer);
  const config = (more: object = {}, ofIssuer: object = {}) =>
    JSON.stringify({ requestsPerMinute: 1000, issuers: [{ ...usual, ...ofIssuer }], ...more });
  const start = (more: Partial<GatewaySettings> = {}, its = images): Promise<Gateway> => {
    const usually = { configFile: path('gateway.yaml'), tls: 'plain-http', port: 0, host: '127.0.0.1' } as const;
    const address = { url: broker.url, tokenFile: path('token'), keysFolder: path('keys') };
    const settings = { ...usually, broker: address, rereadMs: 3_600_000, ...more };
    return startGateway(settings, its, (line) => lines.push(line));
  };
  await write('token', 'gateway-token-1\n');
  await mkdir(path('keys'));
  await write('keys/1', signingKey);
  await write('gateway.yaml', config());
  const gateway = await start();
  return {
    issuer,
    broker,
    gateway,
    /** What the gateways of this world logged. */
    lines,
    path,
    write,
    config,
    start,
    /** A gateway of its own, with another configuration, while `use` runs. */
    async withGateway(text: string, use: (url: string) => Promise<void>) {
      await write('other.yaml', text);
      const other = await start({ configFile: path('other.yaml') });
      await use(other.url).finally(other.close);
    },
    /** Posts a publication; what is not given is good, but for the token. */
    async send({ url = gateway.url, token, headers = {}, body = JSON.stringify(data) }: Sent) {
      const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const response = await fetch(url, { method: 'POST', headers: { ...event, ...authorization, ...headers }, body });
      const text = await response.text();
      const error = text === '' ? '' : (JSON.parse(text) as { error: string }).error;
      return { status: response.status, headers: response.headers, text, error };
    },
    /** Forgets what one test left for the next. */
    reset() {
      broker.received.length = 0;
      broker.answer = 202;
      lines.length = 0;
      issuer.answers.clear();
    },
    async close() {
      await Promise.all([gateway.close(), broker.close(), issuer.close()]);
      await rm(folder, { recursive: true });
    },
  };
}

/** An issuer in the configuration of a gateway: tags of labs/images may publish lab-*. */
const tagsOf = ({ url, caFile }: { url: string; caFile: string }) => ({
  ...{ name: 'ci', issuer: url, audience: 'ot-preload', caFile },
  rules: [{ name: 'labs', claims: { repository: 'labs/images', ref: 'refs/tags/v*' }, images: 'lab-*' }],
});

/** Runs with a gateway before that cluster, which makes images there, and with a token that it takes. */
export async function withGatewayBefore(
  { kube, broker }: { kube: Kube; broker: string },
  use: (gateway: { url: string; token: string }) => Promise<void>,
): Promise<void> {
  const issuer = await startTestIssuer('ot-preload');
  const folder = await mkdtemp(join(tmpdir(), 'gateway-'));
  const [configFile, keysFolder] = [join(folder, 'gateway.yaml'), join(folder, 'keys')];
  await writeFile(configFile, JSON.stringify({ issuers: [tagsOf(issuer)] }));
  await mkdir(keysFolder);
  await writeFile(join(keysFolder, 'tests'), publicationKey);
  const images = imageMaker(verified, { kube, telemetry: telemetryOf('gateway') });
  const where = { port: 0, host: '127.0.0.1', rereadMs: 3_600_000, tls: 'plain-http' } as const;
  const address = { url: broker, tokenFile: undefined, keysFolder };
  const gateway = await startGateway({ configFile, broker: address, ...where }, images, () => undefined);
  try {
    await use({ url: gateway.url, token: await issuer.token() });
  } finally {
    await gateway.close();
    await images.drain();
    await issuer.close();
    await rm(folder, { recursive: true });
  }
}

/** A Broker with a configurable answer, and the events that it received. */
async function startBroker() {
  const received: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await Array.fromAsync(request as AsyncIterable<Buffer>);
    received.push({ headers: request.headers, body: Buffer.concat(chunks).toString() });
    const headers = broker.answer === 307 ? { location: '/elsewhere' } : {};
    response.writeHead(broker.answer, headers).end('a sentence of the Broker');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/sync-operator/default`;
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections());
  const broker = { received, answer: 202, url, close };
  return broker;
}
