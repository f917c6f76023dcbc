import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { readManifests } from '../../deploy/manifests.ts';
import declaration from '../../functions/provision-volume/index.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import { serveOnOpenStack } from '../support/harness/openstack-harness.ts';

/**
 * An author who may write the Secret openstack-credentials in a namespace has the functions send requests from within the cluster, and is told
 * how they were answered: metadata services, and whatever answers there without asking who calls.
 */
const asked: string[] = [];
const server = createServer(({ method, url, headers }, response) => {
  asked.push(`${method} ${headers.host} ${url}`);
  response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"an answer from within"}');
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const { port } = server.address() as AddressInfo;

const harness = await serveOnOpenStack(declaration);
const { kube, openStack } = harness;
const [shipped] = (await readManifests('deploy/base')).filter(({ kind }) => kind === 'ConfigMap') as ConfigMap[];
afterAll(async () => {
  await harness.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  asked.length = 0;
});

let namespaces = 0;
/** What mallory's Volume says of an OpenStack at that address, with that policy. */
async function saidOf(authUrl: string, data: Record<string, string> | undefined) {
  await kube.delete(ConfigMap, policyRef);
  if (data) await kube.create(ConfigMap, { metadata: policyRef, data });
  const namespace = `mallory-${++namespaces}`;
  await harness.namespace(namespace, { authUrl, userName: 'mallory', password: 'any', projectName: 'any' });
  const ref = { namespace, name: 'disk' };
  const { apiVersion, kind } = Volume;
  await kube.create(Volume, { apiVersion, kind, metadata: ref, spec: { size: '1Gi' } });
  await harness.begin().changed(Volume, ref);
  return conditionOf((await kube.get(Volume, ref))?.status?.conditions, 'Ready');
}

describe('an address within the cluster is not asked', () => {
  test.each([
    ['by the policy as it is shipped', undefined, shipped?.data],
    ['where the policy was deleted', undefined, undefined],
    ['where its key is misspelt', undefined, { openStackEndpoints: 'http://127.0.0.1/**' }],
    ['where every address is allowed, as a star is no pattern', undefined, { openstackEndpoints: '*' }],
    ['where every host is', undefined, { openstackEndpoints: 'http://*/**' }],
    ['where one of the lines is no pattern', undefined, { openstackEndpoints: 'https://keystone.example.com/**\n*' }],
    [
      'by another spelling of an allowed host',
      'keystone.example.com@127.0.0.1',
      { openstackEndpoints: 'http://keystone.example.com/**' },
    ],
    ['by a number', '2130706433', { openstackEndpoints: 'http://*.example.com/**' }],
  ])('%s', async (_, host = '127.0.0.1', data) => {
    const said = await saidOf(`http://${host}:${port}/latest/meta-data/v3`, data);
    expect(asked).toEqual([]);
    expect(said).toMatchObject({ reason: 'EndpointNotAllowed', message: expect.not.stringContaining('\n') });
  });

  test('because an allowed Keystone names it in its catalogue', async () => {
    const { origin } = new URL(openStack.authUrl);
    const data = { openstackEndpoints: `${origin}/identity/**` };
    const { authUrl, admin } = openStack;
    await kube.delete(ConfigMap, policyRef);
    await kube.create(ConfigMap, { metadata: policyRef, data });
    await harness.namespace('catalogue', { authUrl, ...admin });
    const ref = { namespace: 'catalogue', name: 'disk' };
    const { apiVersion, kind } = Volume;
    await kube.create(Volume, { apiVersion, kind, metadata: ref, spec: { size: '1Gi' } });
    harness.reads.length = 0;
    await harness.begin().changed(Volume, ref);
    expect(harness.reads.filter((read) => read.startsWith('volume'))).toEqual([]);
    expect(conditionOf((await kube.get(Volume, ref))?.status?.conditions, 'Ready')?.reason).toBe('EndpointNotAllowed');
  });
});

test('a message names the line that allows the address, for the admin to add', async () => {
  const message = (await saidOf(`http://127.0.0.1:${port}/v3`, {}))?.message;
  expect(message).toBe(
    `expected a line for http://127.0.0.1:${port} in the policy's openstackEndpoints, found none; if functions may send requests there, add the line "http://127.0.0.1:${port}/**"`,
  );
  const [, line = ''] = /"(.+)"/.exec(message ?? '') ?? [];
  await saidOf(`http://127.0.0.1:${port}/v3`, { openstackEndpoints: line });
  expect(asked).toEqual([`POST 127.0.0.1:${port} /v3/auth/tokens`]);
});

test('matching an address of 2,000 characters takes no time, which would stop the function for all tenants', async () => {
  const stars = `https://s3.example.com${'/*a**'.repeat(90)}/x`;
  const began = performance.now();
  await saidOf(`https://s3.example.com/${'a/'.repeat(1000)}`, { openstackEndpoints: stars });
  expect(performance.now() - began).toBeLessThan(2000);
});
