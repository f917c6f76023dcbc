import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';
import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, test } from 'vitest';
import { startApiServer } from '../../deploy/local/api-server/api-server.ts';
import { kubeconfigFor } from '../../deploy/local/api-server/kubeconfig.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { applyManifests, readManifests } from '../../deploy/local/manifests.ts';
import { aVMDiskImage } from '../../test/builders.ts';
import { Secret } from '../resources/core/secret.ts';
import { VirtualMachine } from '../resources/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../resources/pelotech/vm-disk-image.ts';
import type { Resource } from '../resources/resource.ts';
import { kubeClient } from './kube.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Where a server listens that answers in this way. */
async function listening(answer: RequestListener): Promise<KubeConfig> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const config = new KubeConfig();
  const { port } = server.address() as AddressInfo;
  config.loadFromString(kubeconfigFor(`http://127.0.0.1:${port}`));
  return config;
}

/** A client of a server that notes what it was sent, and answers the same to all of it. */
async function onTheWire(status = 200, answer = '{}') {
  const sent: { request: string; body: unknown }[] = [];
  const config = await listening(async (request, response) => {
    sent.push({ request: `${request.method} ${request.url}`, body: JSON.parse((await text(request)) || 'null') });
    response.writeHead(status).end(answer);
  });
  return { kube: kubeClient(config), sent };
}

describe('a DELETE', () => {
  const ubuntu = { namespace: 'vmdi-farm', name: 'ubuntu' };
  const request = 'DELETE /apis/pelotech.ot/v1alpha1/namespaces/vmdi-farm/vmdiskimages/ubuntu';
  const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };

  test.each([
    ['uid and resourceVersion', { uid: 'uid-of-ubuntu', resourceVersion: '42' }],
    ['uid alone', { uid: 'uid-of-ubuntu' }],
  ])('carries as preconditions %s', async (_, preconditions) => {
    const { kube, sent } = await onTheWire();
    await kube.delete(VMDiskImage, ubuntu, preconditions);
    expect(sent).toEqual([{ request, body: { ...options, preconditions } }]);
  });
  test('is unconditional where none are given', async () => {
    const { kube, sent } = await onTheWire();
    await kube.delete(VMDiskImage, ubuntu);
    expect(sent).toEqual([{ request, body: options }]);
  });
});

describe('of an object that may hold passwords', () => {
  const ref = { namespace: 'lab', name: 'vm' };
  const quoting = (code: number) => JSON.stringify({ code, reason: 'Invalid', message: 'denied: "pw"' });
  const errorOf = (done: Promise<unknown>) => done.then(String, (error: unknown) => error);

  test.each([Secret, VirtualMachine])(
    '$kind no error shows what the API server said, but to those who ask for it',
    async (kind) => {
      const { kube } = await onTheWire(422, quoting(422));
      const error = await errorOf(kube.create(kind as Resource, { metadata: ref }));
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('pw');
      expect(error).toMatchObject({ status: 422, reason: 'Invalid', said: 'denied: "pw"' });
    },
  );
  test('an answer that is no JSON is not quoted either', async () => {
    const { kube } = await onTheWire(200, '["pw",x]');
    expect(inspect(await errorOf(kube.get(Secret, ref)), { depth: 9, showHidden: true })).not.toContain('pw');
  });
  test('of any other object it does', async () => {
    const { kube } = await onTheWire(422, quoting(422));
    expect(await errorOf(kube.create(VMDiskImage, { metadata: ref }))).toMatchObject({ message: 'denied: "pw"' });
  });
});

describe('a request that is not answered in time', () => {
  /** A client, with little patience, of a server that sends what `begin` does, and then nothing any more. */
  const silent = async (begin: (response: ServerResponse) => void = () => undefined) =>
    kubeClient(await listening((_, response) => begin(response)), 'Warn', 50);
  const path = '/apis/pelotech.ot/v1alpha1/namespaces/lab/vmdiskimages/ubuntu';
  const said = `expected an answer to GET ${path} within 0.05 s, found none`;

  test('is given up and says so', async () => {
    const kube = await silent();
    await expect(kube.get(VMDiskImage, { namespace: 'lab', name: 'ubuntu' })).rejects.toThrow(said);
  });
  test('is given up where the answer has begun, too', async () => {
    const kube = await silent((response) => void response.writeHead(200).write('{'));
    await expect(kube.get(VMDiskImage, { namespace: 'lab', name: 'ubuntu' })).rejects.toThrow(said);
  });
});

describe('a field that the kind does not know', () => {
  const { apiVersion, kind, spec } = aVMDiskImage();
  const image = (name: string) => ({
    apiVersion,
    kind,
    metadata: { namespace: 'default', name },
    spec: { ...spec, colour: 'red' },
  });

  async function clients() {
    const server = await startApiServer({ clock: realClock });
    ends.push(server.close);
    const config = new KubeConfig();
    config.loadFromString(server.kubeconfig());
    const [strict, byDefault] = [kubeClient(config, 'Strict'), kubeClient(config)];
    await applyManifests(byDefault, await readManifests('crds'));
    return { strict, byDefault };
  }

  test('is refused under Strict, and taken out by default', async () => {
    const { strict, byDefault } = await clients();
    const refusal = { status: 400, message: expect.stringContaining('unknown field "spec.colour"') };
    await expect(strict.create(VMDiskImage, image('red'))).rejects.toMatchObject(refusal);
    const made = await byDefault.create(VMDiskImage, image('red'));
    expect(made.spec).not.toHaveProperty('colour');

    const { metadata } = made;
    const red = { ...made, spec: { ...made.spec, colour: 'red' } };
    await expect(strict.replace(VMDiskImage, red)).rejects.toMatchObject(refusal);
    expect((await byDefault.replace(VMDiskImage, red)).spec).not.toHaveProperty('colour');
    const patch = { spec: { colour: 'red' } };
    await expect(strict.patch(VMDiskImage, metadata, patch)).rejects.toMatchObject({ ...refusal, status: 422 });
    expect((await byDefault.patch(VMDiskImage, metadata, patch)).spec).not.toHaveProperty('colour');
  });
});
