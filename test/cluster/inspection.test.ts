import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bindingsInImageNamespaces } from '../../deploy/cli/install/image-namespaces.ts';
import type { ObjectStore } from '../../deploy/local/object-store/object-store.ts';
import { fixture } from '../../functions/inspect-source/fixtures/read.ts';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret } from '../../shared/kinds/core/secret.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { conditionOf } from '../../shared/kubernetes/conditions.ts';
import { policyRef } from '../../shared/policy.ts';
import { until } from '../stories/world.ts';
import { applyText, install, manifestsIn, removeFunctions, removeObjects, textOf } from './installation.ts';
import { nodeAddress } from './kubectl.ts';
import { findVersitygw } from './versitygw.ts';
import { startVersitygwStore } from './versitygw-store.ts';
import { adminClient } from './world.ts';

// The store of the stories listens on loopback, which no Pod reaches; these are beside the cluster.

const namespace = 'vmdi-farm';
const keys = { accessKeyId: 'reader', secretKey: 'a-secret-of-the-tests' };
const isThere = (await findVersitygw()) !== undefined;
if (!isThere) console.warn('skipped: what a Pod asks of a real S3 server needs versitygw on the PATH');

const kube = adminClient();
let host: string;
let disk: Buffer;

/** No slot, so that nothing downloads what the inspection lets through. */
const allow = (url: string) =>
  kube.patch(ConfigMap, policyRef, { data: { concurrency: '0', allowedSources: `${url}/**` } });

beforeAll(async () => {
  disk = await fixture('disk.qcow2');
  host = await nodeAddress();
  await install('serving');
});
afterAll(async () => {
  for (const { metadata } of await kube.list(VMDiskImage, { namespace })) await kube.delete(VMDiskImage, metadata);
  await kube.patch(ConfigMap, policyRef, { data: { concurrency: '4', allowedSources: null } });
  await removeFunctions();
});

/** What the inspection says of an image. */
async function verdictOn(name: string, spec: Partial<VMDiskImage['spec']>) {
  const { apiVersion, kind } = VMDiskImage;
  const classes = { storageClass: 'gp3', snapshotClass: 'ebs-snapshot', diskSize: '64Mi' };
  await kube.create(VMDiskImage, { apiVersion, kind, metadata: { namespace, name }, spec: { ...classes, ...spec } });
  const isKnown = (image: VMDiskImage | undefined) =>
    conditionOf(image?.status?.conditions, 'SourceInspected') !== undefined;
  const image = await until({ kube }, VMDiskImage, { namespace, name }, isKnown);
  return { source: image?.status?.source, condition: conditionOf(image?.status?.conditions, 'SourceInspected') };
}

/** It is Failed without an attempt or a DataVolume. */
async function expectNoAttempt(name: string) {
  const isFailed = (found: VMDiskImage | undefined) => found?.status?.phase === 'Failed';
  const failed = await until({ kube }, VMDiskImage, { namespace, name }, isFailed);
  expect(failed?.status).toMatchObject({ attempt: 0, attempts: 0 });
  expect(await kube.list(DataVolume, { namespace })).toEqual([]);
}

describe('a Pod that looks at a web server in the network of the cluster, which a line of the policy names,', () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    server = createServer(({ url: path, headers }, response) => {
      if (path !== '/disk.qcow2') return void response.writeHead(404).end();
      const [, first = '0', last = `${disk.length - 1}`] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
      const part = disk.subarray(Number(first), Number(last) + 1);
      response.writeHead(206, { etag: '"one"', 'content-range': `bytes ${first}-${last}/${disk.length}` }).end(part);
    }).listen(0, host);
    await once(server, 'listening');
    url = `http://${host}:${(server.address() as AddressInfo).port}`;
    await allow(url);
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });

  test('finds an image', async () => {
    const { condition, source } = await verdictOn('inspected', { sourceType: 'http', url: `${url}/disk.qcow2` });
    expect(condition).toMatchObject({ status: 'True', reason: 'Inspected' });
    expect(source).toMatchObject({ format: 'qcow2', etag: '"one"' });
  });

  test('finds nothing', async () => {
    const { condition } = await verdictOn('missing', { sourceType: 'http', url: `${url}/nothing` });
    expect(condition?.reason).toBe('SourceMissing');
    await expectNoAttempt('missing');
  });
});

describe.skipIf(!isThere)('a Pod that looks at a real S3 server with the Secret of an image', () => {
  let store: ObjectStore;
  let bindings: KubernetesObject[] = [];
  const secrets = { 's3-reader': keys.secretKey, 's3-wrong': 'guessed' };
  beforeAll(async () => {
    store = await startVersitygwStore({ keys: [keys], host });
    await store.put('images', 'golden images/disk.qcow2', disk);
    await store.put('images', 'page.qcow2', `<!DOCTYPE html><html>${'<p>Not here</p>'.repeat(99)}</html>`);
    await allow(store.url);
    bindings = await bindingsInImageNamespaces({ kube, say: expect.unreachable }, await manifestsIn('serving'));
    await applyText(textOf(bindings));
    for (const [name, secretKey] of Object.entries(secrets))
      await kube.create(Secret, {
        metadata: { namespace, name },
        data: { accessKeyId: btoa(keys.accessKeyId), secretKey: btoa(secretKey) },
      });
  });
  afterAll(async () => {
    for (const name of Object.keys(secrets)) await kube.delete(Secret, { namespace, name });
    await removeObjects(bindings);
    await store?.close();
  });

  const look = (name: string, path: string, secretRef = 's3-reader') =>
    verdictOn(name, { url: `${store.url}/images/${encodeURI(path)}`, secretRef });

  test('finds an image by its first 64 KiB', async () => {
    const { condition, source } = await look('s3-good', 'golden images/disk.qcow2');
    expect(condition).toMatchObject({ status: 'True', reason: 'Inspected' });
    expect(source).toMatchObject({ format: 'qcow2', bytes: disk.length, virtualSize: 8 << 20 });
    expect(source?.etag).toMatch(/^"[0-9a-f]{32}"$/);
    expect(store.bytesSent('images/golden images/disk.qcow2')).toBeLessThanOrEqual((64 + 2) * 1024);
  });

  test.each([
    ['finds no object', 'no.qcow2', 's3-reader', 'SourceMissing', /found none \(404 NoSuchKey\)/],
    [
      'has a wrong secret',
      'page.qcow2',
      's3-wrong',
      'SourceForbidden',
      /\(403 SignatureDoesNotMatch\).*Secret s3-wrong/,
    ],
    ['finds a page', 'page.qcow2', 's3-reader', 'NotAnImage', /found an HTML page/],
  ])('%s', async (what, path, secretRef, reason, said) => {
    const name = what.replaceAll(' ', '-');
    const { condition } = await look(name, path, secretRef);
    expect(condition).toMatchObject({ status: 'False', reason, message: expect.stringMatching(said) });
    await expectNoAttempt(name);
  });
});
