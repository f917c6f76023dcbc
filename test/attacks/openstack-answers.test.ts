import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import declaration from '../../functions/provision-volume/index.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import { serveOnOpenStack } from '../support/harness/openstack-harness.ts';

/**
 * An author who may write the Secret openstack-credentials in a namespace chooses whom the functions ask. An answer that does not end would
 * fill the memory of a process that serves every tenant.
 */
const mebibyte = 1024 * 1024;
const offered = 64 * mebibyte;
let taken = 0;
let pages = 0;
let answer: (response: ServerResponse, path: string) => Promise<void>;

const server = createServer((request, response) => {
  answer(response, request.url ?? '').catch(() => response.destroy());
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

const harness = await serveOnOpenStack(declaration);
await harness.kube.patch(ConfigMap, policyRef, { data: { openstackEndpoints: `${url}/**` } });
afterAll(async () => {
  await harness.close();
  server.closeAllConnections();
  server.close();
});
const login = { authUrl: `${url}/v3`, userName: 'mallory', password: 'any', projectName: 'any' };
beforeEach(() => {
  taken = 0;
  pages = 0;
});

/** Writes as long as the reader takes it. */
async function pour(response: ServerResponse) {
  const chunk = Buffer.alloc(mebibyte / 4, 'x');
  const closed = once(response, 'close');
  for (let sent = 0; sent < offered && !response.destroyed; sent += chunk.length) {
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), closed]);
    taken += chunk.length;
  }
  response.end();
}

const token = { 'content-type': 'application/json', 'x-subject-token': 'any' };
const loggedIn = JSON.stringify({
  token: {
    expires_at: '2999-01-01T00:00:00Z',
    user: { id: 'any' },
    project: { id: 'any', domain: { id: 'any' } },
    catalog: [{ type: 'volumev3', endpoints: [{ interface: 'public', region: 'RegionOne', url }] }],
  },
});

async function messageFor(namespace: string) {
  await harness.namespace(namespace, login);
  const ref = { namespace, name: 'disk' };
  const { apiVersion, kind } = Volume;
  await harness.kube.create(Volume, { apiVersion, kind, metadata: ref, spec: { size: '1Gi' } });
  const answered = await harness.begin().changed(Volume, ref);
  const { status } = (await harness.kube.get(Volume, ref)) ?? {};
  return { answered, message: conditionOf(status?.conditions, 'Ready')?.message };
}

describe("an OpenStack of mallory's that never stops talking is not listened to, which would end the process for all tenants", () => {
  test('at the login', async () => {
    answer = async (response) => {
      response.writeHead(201, token);
      response.write('{"token":"');
      await pour(response);
    };
    expect(await messageFor('plain')).toEqual({
      answered: 202,
      message: "expected an answer of OpenStack's identity service to logIn of at most 8 MiB, found a longer one",
    });
    // What the system holds on the way counts as taken.
    expect(taken).toBeLessThan(24 * mebibyte);
  });
  test('in a refusal', async () => {
    answer = async (response) => {
      response.writeHead(500, token);
      await pour(response);
    };
    expect((await messageFor('refusal')).message).toContain('of at most 8 MiB');
    expect(taken).toBeLessThan(24 * mebibyte);
  });
  test('in a few bytes that unfold to many', async () => {
    const bomb = gzipSync(Buffer.alloc(offered, '"'));
    answer = async (response) => void response.writeHead(201, { ...token, 'content-encoding': 'gzip' }).end(bomb);
    expect((await messageFor('bomb')).message).toContain('of at most 8 MiB');
  });
  test('page by page', async () => {
    answer = async (response, path) => {
      if (path === '/v3/auth/tokens') return void response.writeHead(201, token).end(loggedIn);
      pages++;
      const volumes = Array.from({ length: 4 }, (_, index) => ({
        id: `${pages}-${index}`,
        status: 'available',
        size: 1,
        metadata: { any: 'x'.repeat(mebibyte) },
      }));
      const links = [{ rel: 'next', href: `${url}/volumes/detail?marker=${pages}` }];
      response.writeHead(200, token).end(JSON.stringify({ volumes, volumes_links: links }));
    };
    expect((await messageFor('pages')).message).toBe(
      "expected an answer of OpenStack's volume service to listVolumes of at most 32 MiB on all its pages, found a longer one",
    );
    expect(pages).toBeLessThanOrEqual(9);
  });
});
