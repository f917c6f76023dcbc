import { describe, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { ApiError } from '../../../shared/runtime/errors.ts';
import type { Kube, ListOptions, WatchEvent } from '../../../shared/runtime/kube.ts';
import { comparable, comparableRequest, recorded } from '../../../test/support/tools/recorded-knative-events.ts';
import { realClock } from '../clock.ts';
import { ApiServerSource } from './resources.ts';
import { runApiServerSource, selectorText } from './source.ts';
import { workInProgress } from './work.ts';

type Change = WatchEvent<KubernetesObject>;

/** An API server of one kind: tests say what changes, and answer how it is watched. */
function fakeKube(existing: readonly KubernetesObject[] = []) {
  const watches: { options: ListOptions & { resourceVersion?: string }; plural: string }[] = [];
  const open: { tell(change: Change): void; end(error?: Error): void }[] = [];
  const watching = Promise.withResolvers<void>();
  const kube: Pick<Kube, 'pages' | 'list' | 'watch'> = {
    pages: async function* () {
      yield { items: existing as never[], resourceVersion: '7' };
    },
    list: async () => [],
    watch: (resource, { signal, ...options }, onEvent) =>
      new Promise<void>((resolve, reject) => {
        watches.push({ options, plural: resource.plural });
        open.push({ tell: (change) => onEvent(change as never), end: (error) => (error ? reject(error) : resolve()) });
        signal.addEventListener('abort', () => resolve(), { once: true });
        watching.resolve();
      }),
  };
  return { kube, watches, open, watching: watching.promise };
}

function aSource(spec: object = {}) {
  return ApiServerSource.parse({
    metadata: { name: 'changes', namespace: 'default' },
    spec: {
      resources: [{ apiVersion: 'demo.example.com/v1alpha1', kind: 'Widget' }],
      sink: { uri: 'http://sink/' },
      namespaceSelector: {},
      ...spec,
    },
  });
}

const widget = (name: string, resourceVersion = '8'): KubernetesObject => ({
  apiVersion: 'demo.example.com/v1alpha1',
  kind: 'Widget',
  metadata: { name, namespace: 'default', uid: '', resourceVersion, generation: 1, creationTimestamp: '' },
});

async function running(source: ApiServerSource, fake: ReturnType<typeof fakeKube>, answer = () => 202) {
  const requests: Request[] = [];
  const lost: string[] = [];
  const controller = new AbortController();
  const work = workInProgress();
  await runApiServerSource(source, {
    kube: fake.kube,
    clock: { ...realClock, after: (_, task) => realClock.after(0, task) },
    signal: controller.signal,
    host: 'https://10.96.0.1:443',
    namespace: source.metadata.namespace ?? '',
    sink: {
      url: 'http://sink/',
      send: async (request) => {
        requests.push(request.clone());
        return new Response(null, { status: answer() });
      },
    },
    lost: (event, reason) => lost.push(`${event.attributes.name}: ${reason}`),
    running: work.add,
  });
  await fake.watching;
  return { requests, lost, idle: work.idle, stop: () => controller.abort() };
}

describe('the requests of an ApiServerSource equal the recorded ones', () => {
  test.each([
    { type: 'ADDED', fixture: 'reference-add-namespaced-source-to-sink' },
    { type: 'MODIFIED', fixture: 'reference-update-namespaced-source-to-sink' },
    { type: 'DELETED', fixture: 'reference-delete-namespaced-source-to-sink' },
  ] as const)('$fixture', async ({ type, fixture }) => {
    const fake = fakeKube();
    const { requests, idle, stop } = await running(aSource(), fake);
    fake.open[0]?.tell({ type, object: widget('w1') });
    await idle();
    stop();
    const wanted = await recorded(fixture);
    expect(requests.map(comparableRequest)).toEqual([comparable(wanted.headers)]);
    expect(await requests[0]?.text()).toBe(wanted.rawBody);
  });

  test.each([
    { type: 'ADDED', fixture: 'resource-add-cluster-source-to-sink', ceOverrides: undefined },
    {
      type: 'DELETED',
      fixture: 'resource-delete-namespaced-source-to-sink',
      ceOverrides: { extensions: { origin: 'lab' } },
    },
  ] as const)('$fixture', async ({ type, fixture, ceOverrides }) => {
    const wanted = await recorded(fixture);
    const fake = fakeKube();
    const { requests, idle, stop } = await running(aSource({ mode: 'Resource', ceOverrides }), fake);
    fake.open[0]?.tell({ type, object: wanted.body as KubernetesObject });
    await idle();
    stop();
    expect(requests.map(comparableRequest)).toEqual([comparable(wanted.headers)]);
    expect(await requests[0]?.text()).toBe(wanted.rawBody);
  });
});

describe('an ApiServerSource', () => {
  test('tells nothing of what existed before, and watches from the version of its list', async () => {
    const fake = fakeKube([widget('old')]);
    const { requests, idle, stop } = await running(aSource(), fake);
    fake.open[0]?.tell({ type: 'ADDED', object: widget('new') });
    await idle();
    stop();
    expect(requests.map(({ headers }) => headers.get('ce-name'))).toEqual(['new']);
    expect(fake.watches).toEqual([{ plural: 'widgets', options: { resourceVersion: '7' } }]);
  });

  test('continues from the last change after a watch ended, and starts over after it was refused', async () => {
    const fake = fakeKube();
    const { stop } = await running(aSource(), fake);
    fake.open[0]?.tell({ type: 'ADDED', object: widget('w1', '9') });
    fake.open[0]?.end();
    await expect.poll(() => fake.watches.at(-1)?.options.resourceVersion).toBe('9');
    fake.open[1]?.end(new ApiError(410, 'Expired', 'too old'));
    await expect.poll(() => fake.watches.length).toBe(3);
    stop();
    expect(fake.watches.at(-1)?.options.resourceVersion).toBe('7');
  });

  test('sends one event at a time', async () => {
    const fake = fakeKube();
    const { requests, idle, stop } = await running(aSource(), fake);
    for (const name of ['a', 'b', 'c']) fake.open[0]?.tell({ type: 'ADDED', object: widget(name) });
    await Promise.resolve();
    expect(requests.length).toBeLessThanOrEqual(1);
    await idle();
    stop();
    expect(requests.map(({ headers }) => headers.get('ce-name'))).toEqual(['a', 'b', 'c']);
  });

  test('drops an event that is answered with 500 and sends the next', async () => {
    const fake = fakeKube();
    const answers = [500, 202];
    const { requests, lost, idle, stop } = await running(aSource(), fake, () => answers.shift() ?? 202);
    fake.open[0]?.tell({ type: 'ADDED', object: widget('a') });
    fake.open[0]?.tell({ type: 'ADDED', object: widget('b') });
    await idle();
    stop();
    expect(requests).toHaveLength(2);
    expect(lost).toEqual(['a: http://sink/ answered 500']);
  });

  test('keeps the id of an event through its retries and gives the next a new one', async () => {
    const fake = fakeKube();
    const answers = [503, 202];
    const { requests, idle, stop } = await running(aSource(), fake, () => answers.shift() ?? 202);
    fake.open[0]?.tell({ type: 'ADDED', object: widget('a') });
    fake.open[0]?.tell({ type: 'MODIFIED', object: widget('a') });
    await idle();
    stop();
    const ids = requests.map(({ headers }) => headers.get('ce-id'));
    expect(ids).toHaveLength(3);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });
});

test('a label selector is written as the API server takes it', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'tier', operator: 'NotIn', values: ['c'] },
    { key: 'old', operator: 'DoesNotExist' },
    { key: 'app', operator: 'Exists' },
  ];
  expect(selectorText({ matchLabels: { app: 'demo' }, matchExpressions })).toBe(
    'app=demo,tier in (a,b),tier notin (c),!old,app',
  );
});
