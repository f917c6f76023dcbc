import { afterAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { startApiServer } from '../../deploy/local/api-server/api-server.ts';
import { clientOf } from '../../deploy/local/client.ts';
import { realClock } from '../../deploy/local/clock.ts';
import { applyManifests, readManifests } from '../../deploy/manifests.ts';
import { brokerManifests } from '../../knative/broker.ts';
import { permissionManifests } from '../../knative/permissions.ts';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import { Trigger } from '../../shared/kinds/eventing/trigger.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { operatorNamespace, publicBroker } from '../../shared/operator.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import { serve } from '../../shared/runtime/http.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import declaration from './index.ts';

const server = await startApiServer({ clock: realClock });
const admin = clientOf(server);
afterAll(server.close);
await applyManifests(admin, await readManifests('deploy/local/eventing/crds', 'deploy/base'));
const ours = [declaration as FunctionDeclaration];
const manifests = [...permissionManifests(ours), ...brokerManifests([publicBroker], ours)];
await applyManifests(admin, manifests as unknown as KubernetesObject[]);
const subscriber = { ref: { apiVersion: 'v1', kind: 'Service', name: 'preload' } };
const metadata = { name: 'preload', namespace: operatorNamespace };
await admin.create(Trigger, { metadata, spec: { broker: 'default', subscriber } });

beforeEach(async () => {
  for (const event of await admin.list(Event)) await admin.delete(Event, event.metadata);
});

/** The function under its own permissions, with what it counted, logged and asked of the API server. */
function served(
  kube: Kube = clientOf(server, server.tokenFor({ namespace: operatorNamespace, name: 'dead-letters' })),
) {
  const log = vi.spyOn(console, 'error').mockClear();
  log.mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const counted: unknown[] = [];
  const writes = vi.fn(kube.apply);
  const { app, drain } = serve(declaration, {
    kube: { ...kube, apply: writes as unknown as Kube['apply'] },
    telemetry: {
      measure: (metric, value, attributes) => {
        if (metric === 'ot.dead.letters') counted.push({ value, ...attributes });
      },
      lasted: () => undefined,
      made: () => undefined,
      span: (_name, _of, _attributes, run) => run(),
    },
    now: realClock.now,
    pause: async () => undefined,
    random: () => 0,
    publisher: { publish: () => undefined, republish: () => undefined },
  });
  const post = async (path: string, attributes: Record<string, string> = {}, body = '{"password":"hush"}') => {
    const all = { specversion: '1.0', id: 'e-1', source: '/ci', type: 'ot.pelotech.image.published.v1', ...attributes };
    const headers = Object.entries(all).map(([key, value]): [string, string] => [`ce-${key}`, value]);
    const response = await app.request(path, { method: 'POST', headers, body });
    return [response.status, await response.text()];
  };
  const lines = () => log.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
  return { post, drain, counted, writes, lines };
}

const shown = async () =>
  (await admin.list(Event)) as unknown as { message: string; count: number; involvedObject: object; reason: string }[];

test('what preload did not take is counted, logged and shown at its Trigger, without a word of its data', async () => {
  const { post, drain, counted, lines } = served();
  const errors = { knativeerrorcode: '400', knativeerrordata: Buffer.from('hush').toString('base64') };
  expect(await post('/preload', errors)).toEqual([202, '']);
  await drain();
  expect(counted).toEqual([{ value: 1, function: 'preload', event: 'message' }]);
  expect(lines()).toEqual([
    {
      level: 'warn',
      function: 'dead-letters',
      message: 'no function took an event',
      id: 'e-1',
      type: 'ot.pelotech.image.published.v1',
      source: '/ci',
      failed: 'preload',
      code: '400',
    },
  ]);
  const uid = (await admin.get(Trigger, metadata))?.metadata.uid;
  expect(await shown()).toMatchObject([
    { reason: 'DeadLetter', type: 'Warning', count: 1, involvedObject: { kind: 'Trigger', name: 'preload', uid } },
  ]);
  expect(JSON.stringify(await shown())).not.toContain('hush');
});

test('the fields that preload refused are logged and shown, with the event and its source', async () => {
  const { post, drain, lines } = served();
  const faults = 'data: Unrecognized key: "secretRef"';
  const knativeerrordata = Buffer.from(JSON.stringify({ faults: [faults] })).toString('base64');
  await post('/preload', { knativeerrorcode: '400', knativeerrordata });
  await drain();
  expect(lines()).toMatchObject([{ id: 'e-1', source: '/ci', faults }]);
  expect(await shown()).toMatchObject([
    { message: expect.stringContaining(`from /ci (event e-1): ${faults}. It is lost unless`) },
  ]);
});

test('a change that a function did not take is shown at the Trigger of its system', async () => {
  const own = { name: 'count-refs-machines', namespace: operatorNamespace };
  const leadsTo = { ref: { apiVersion: 'v1', kind: 'Service', name: 'count-refs' } };
  await admin.create(Trigger, { metadata: own, spec: { broker: 'machines', subscriber: leadsTo } });
  const name = 'count-refs';
  await admin.create(Trigger, { metadata: { ...own, name }, spec: { broker: 'default', subscriber: leadsTo } });
  onTestFinished(async () => {
    for (const one of [own.name, name]) await admin.delete(Trigger, { ...own, name: one });
  });
  const { post, drain } = served();
  await post('/count-refs', { type: 'dev.knative.apiserver.ref.update', apiversion: 'v1', kind: 'Pod', name: 'p' });
  await post('/count-refs');
  await drain();
  expect((await shown()).map(({ involvedObject }) => involvedObject)).toMatchObject(
    expect.arrayContaining([
      expect.objectContaining({ kind: 'Trigger', name: 'count-refs-machines' }),
      expect.objectContaining({ kind: 'Trigger', name: 'count-refs' }),
    ]),
  );
});

test('a storm is a few writes of one Event, whose count is right', async () => {
  const { post, drain, counted, writes } = served();
  await Promise.all(
    Array.from({ length: 1500 }, (_, i) => post('/preload', { id: `e-${i}`, knativeerrorcode: '503' })),
  );
  await drain();
  expect(await shown()).toMatchObject([{ count: 1500 }]);
  expect((counted as { value: number }[]).reduce((sum, { value }) => sum + value, 0)).toBe(1500);
  expect(writes.mock.calls.length).toBeLessThan(150);
});

test('where no Trigger has the name it is shown at the Broker, under one Event for all such names', async () => {
  const { post, drain, counted } = served();
  for (const path of ['/', '/made-up', '/made-up-too']) expect(await post(path)).toEqual([202, '']);
  await drain();
  expect(await shown()).toMatchObject([{ count: 3, involvedObject: { kind: 'Broker', name: 'default' } }]);
  expect(new Set(counted.map((point) => (point as { function: string }).function))).toEqual(new Set(['unknown']));
});

test('at most ten Events are written by one reconcile, and every letter is counted', async () => {
  const { post, drain, counted, writes } = served();
  const codes = Array.from({ length: 40 }, (_, i) => String(400 + i));
  await Promise.all(codes.map((knativeerrorcode, i) => post('/preload', { id: `e-${i}`, knativeerrorcode })));
  await drain();
  expect(counted).toHaveLength(40);
  expect(writes.mock.calls.length).toBeLessThanOrEqual(11);
});

test('while the API server is away letters are answered 202, logged and counted', async () => {
  const away = async () => Promise.reject(new ApiError(503, 'ServiceUnavailable', 'etcd is away'));
  const { post, drain, counted, lines } = served({ ...admin, get: away, list: away, apply: away } as unknown as Kube);
  expect(await post('/preload')).toEqual([202, '']);
  await drain();
  expect(counted).toEqual([{ value: 1, function: 'unknown', event: 'message' }]);
  expect(lines()).toMatchObject([{ failed: 'preload' }]);
});

test('an Event that cannot be written is no reason to count twice, nor to be asked again', async () => {
  for (const status of [403, 409, 500]) {
    const refuse = async () => Promise.reject(new ApiError(status, '', 'no'));
    const { post, drain, counted } = served({ ...admin, apply: refuse } as unknown as Kube);
    expect(await post('/preload')).toEqual([202, '']);
    await drain();
    expect(counted).toEqual([{ value: 1, function: 'preload', event: 'message' }]);
  }
});
