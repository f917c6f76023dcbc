import { SpanStatusCode } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Action } from '../../actions.ts';
import { defineFunction, on, type Subscription } from '../../function.ts';
import { VMDiskImage } from '../../kinds/pelotech/vm-disk-image.ts';
import { defineResource } from '../../kinds/resource.ts';
import { ApiError, Conflict } from '../errors.ts';
import { serve } from '../http.ts';
import type { Kube } from '../kube.ts';
import { traceOrigins } from './origins.ts';
import { type RunningTelemetry, startTelemetry, type TelemetryOptions } from './sdk.ts';
import { spanContextOf, telemetryOf, traceparentOf } from './telemetry.ts';

type SpanProcessor = NonNullable<TelemetryOptions['spanProcessors']>[number];
type ReadableSpan = Parameters<SpanProcessor['onEnd']>[0];

let running: RunningTelemetry;
let spans: ReadableSpan[];
beforeEach(async () => {
  spans = [];
  const keep = { onStart: () => undefined, forceFlush: async () => undefined, shutdown: async () => undefined };
  running = await startTelemetry({
    serviceName: 'test',
    spanProcessors: [{ ...keep, onEnd: (span) => void spans.push(span) }],
  });
});
afterEach(() => running.shutdown());

const image = { uid: '8f3c', revision: 2 };
const named = (name: string) => spans.filter((span) => span.name === name);
const tracesLinked = (span: ReadableSpan | undefined) => span?.links.map(({ context }) => context.traceId);
const pipeline = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const other = '00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00';

describe('the trace of an image', () => {
  test('has ids that every process derives alike, others for another revision', () => {
    expect(spanContextOf(image)).toEqual(spanContextOf({ ...image, phase: 'Syncing' }));
    expect(spanContextOf(image).traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(spanContextOf(image).traceId).not.toBe(spanContextOf({ ...image, revision: 3 }).traceId);
    expect(traceparentOf(image)).toMatch(new RegExp(`^00-${spanContextOf(image).traceId}-[0-9a-f]{16}-01$`));
  });
  test('takes in what is done for it, linked with the reconcile, which is linked with each image once', async () => {
    const { span } = telemetryOf('start-sync');
    const second = { uid: '9a', revision: 1 };
    await span(
      'reconcile',
      undefined,
      {},
      async () => {
        for (const of of [image, image, second]) await span('write', of, { 'ot.image.phase': 'Queued' }, async () => 1);
      },
      [],
    );
    const [reconcile] = named('reconcile');
    const [a, b] = [image, second].map((of) => spanContextOf(of).traceId);
    expect(named('write').map((write) => write.spanContext().traceId)).toEqual([a, a, b]);
    expect(named('write').map(tracesLinked)).toEqual(Array(3).fill([reconcile?.spanContext().traceId]));
    expect(tracesLinked(reconcile)).toEqual([a, b]);
    expect(named('write')[0]?.attributes).toEqual({ 'ot.function': 'start-sync', 'ot.image.phase': 'Queued' });
  });
  test('leaves what is done for no image, such as a write of the Lease, in the trace of the reconcile', async () => {
    const { span } = telemetryOf('start-sync');
    await span('reconcile', undefined, {}, () => span('replace Lease', undefined, {}, async () => 1), []);
    const [reconcile, lease] = [named('reconcile')[0], named('replace Lease')[0]];
    expect(lease?.parentSpanContext?.spanId).toBe(reconcile?.spanContext().spanId);
    expect(reconcile?.parentSpanContext).toBeUndefined();
  });
});

describe('the trace of a machine', () => {
  const machine = { machine: { uid: '8f3c' }, image };
  test('has ids of its own, whatever image it is on and wherever it stands', () => {
    const { traceId } = spanContextOf(machine);
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(spanContextOf({ machine: { uid: '8f3c', phase: 'Ready' } })).toEqual(spanContextOf(machine));
    expect([spanContextOf(image).traceId, spanContextOf({ machine: { uid: '9a' } }).traceId]).not.toContain(traceId);
    expect(traceparentOf(machine)).toContain(traceId);
  });
  test('takes in what is done for it, each step linked with the reconcile and with the sync of its image', async () => {
    const { span } = telemetryOf('provision-vm');
    const steps = [{ machine: machine.machine }, machine];
    const all = async () => {
      for (const of of steps) await span('write', of, {}, async () => 1);
    };
    await span('reconcile', undefined, {}, all, []);
    const [reconcile] = named('reconcile');
    const [own, sync] = [machine, image].map((of) => spanContextOf(of).traceId);
    expect(named('write').map((write) => write.spanContext().traceId)).toEqual([own, own]);
    const reconcileId = reconcile?.spanContext().traceId;
    expect(named('write').map(tracesLinked)).toEqual([[reconcileId], [reconcileId, sync]]);
    expect(tracesLinked(reconcile)).toEqual([own]);
  });
});

describe('the trace of a workspace', () => {
  const machine = { uid: '9a' };
  const workspace = { workspace: { uid: '8f3c' }, images: [image], machines: [machine] };
  test('has ids of its own, whatever it is made of and wherever it stands', () => {
    const { traceId } = spanContextOf(workspace);
    expect(spanContextOf({ workspace: { uid: '8f3c', phase: 'Ready' }, images: [], machines: [] }).traceId).toBe(
      traceId,
    );
    const others = [spanContextOf(image), spanContextOf({ machine: { uid: '8f3c' } })].map((one) => one.traceId);
    expect(others).not.toContain(traceId);
    expect(traceparentOf(workspace)).toContain(traceId);
  });
  test('takes in what is done for it, each step linked with the reconcile, its images and its machines', async () => {
    const { span } = telemetryOf('compose-workspace');
    await span('reconcile', undefined, {}, () => span('write', workspace, {}, async () => 1), []);
    const [reconcile] = named('reconcile');
    expect(named('write')[0]?.spanContext().traceId).toBe(spanContextOf(workspace).traceId);
    expect(tracesLinked(named('write')[0])).toEqual([
      reconcile?.spanContext().traceId,
      spanContextOf(image).traceId,
      spanContextOf({ machine }).traceId,
    ]);
    expect(tracesLinked(reconcile)).toEqual([spanContextOf(workspace).traceId]);
  });
});

describe('a span', () => {
  test.each([
    [new ApiError(422, 'Invalid', 'spec.url: Invalid value: "https://s3/x?X-Amz-Signature=abc"'), 'Invalid'],
    [new ApiError(502, '', '<html>'), '502'],
    [new Conflict('somebody wrote https://user:secret@host'), 'Conflict'],
    [new TypeError('fetch failed'), 'TypeError'],
    ['a bare string', 'string'],
  ])('that ends in an error tells its type and none of its words: %s', async (error, type) => {
    const { span } = telemetryOf('start-sync');
    await expect(span('write', image, {}, () => Promise.reject(error))).rejects.toBe(error);
    expect(spans[0]?.status).toEqual({ code: SpanStatusCode.ERROR });
    expect(spans[0]?.attributes).toEqual({ 'ot.function': 'start-sync', 'error.type': type });
    expect(spans[0]?.events).toEqual([]);
  });
  test.each([
    ['', 'nothing'],
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', 'no trace'],
    ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', 'a forbidden version'],
    ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', 'capitals'],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0100', 'flags that are too long'],
    ["'; DROP TABLE spans", 'garbage'],
  ])('of a reconcile takes no link from %j', async (origin) => {
    await telemetryOf('preload').span('reconcile', undefined, {}, async () => 1, [origin, pipeline]);
    expect(tracesLinked(spans[0])).toEqual(['4bf92f3577b34da6a3ce929d0e0e4736']);
  });
});

describe('a measurement', () => {
  const { measure } = telemetryOf('start-sync');
  test.each([
    ['of a metric that is not listed', () => measure('ot.unheard.of', 1), 'expected a metric'],
    ['of a gauge, which is read at scrape', () => measure('ot.slots.held', 1), 'expected a metric'],
    [
      'without its labels',
      () => measure('ot.image.sync.attempts', 1, { result: 'success' }),
      'expected the labels result, reason, found result',
    ],
    [
      'with a label too many',
      () => measure('ot.image.ready.duration', 1, { image: 'a' }),
      'expected the labels none, found image',
    ],
    [
      'with another label',
      () => measure('ot.lease.conflicts', 1, { name: 'a' }),
      'expected the labels function, found name',
    ],
  ])('%s is refused', (_, write, words) => {
    expect(write).toThrow(words);
  });
  test('goes to the SDK that runs now, whenever its function was made', async () => {
    measure('ot.lease.conflicts', 1, { function: 'start-sync' });
    expect(await running.metrics()).toContain('ot_lease_conflicts_total{function="start-sync"} 1\n');
    await running.shutdown();
    measure('ot.lease.conflicts', 100, { function: 'start-sync' });
    running = await startTelemetry({ serviceName: 'again' });
    measure('ot.lease.conflicts', 5, { function: 'start-sync' });
    expect(await running.metrics()).toContain('ot_lease_conflicts_total{function="start-sync"} 5\n');
  });
});

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const widget = Widget.parse({ metadata: { name: 'w', namespace: 'lab', uid: '8f3c', resourceVersion: '7' } });

/** A function that makes one write a reconcile, and how it is called. */
function served(options: { action?: Action; write?: () => Promise<unknown> } = {}) {
  const status: Action = { do: 'patchStatus', resource: Widget, of: widget, status: { phase: 'Done' }, trace: image };
  const subscriptions: Subscription[] = [on.changed(Widget, { source: 'pelotech' }), on.sweep()];
  const declaration = defineFunction({
    name: 'turn-widget',
    on: subscriptions,
    may: [],
    scale: 'zero',
    observe: async () => [1],
    decide: () => [options.action ?? status],
  });
  const write = options.write ?? (async () => widget);
  const told: unknown[] = [];
  const { app, drain } = serve(declaration, {
    kube: { patch: write, create: write } as unknown as Kube,
    telemetry: telemetryOf('turn-widget'),
    now: () => 0,
    pause: async () => undefined,
    random: () => 0,
    publisher: { publish: (event) => void told.push(event), republish: () => undefined },
  });
  const post = (more: Record<string, string> = {}) =>
    app.request('/', {
      method: 'POST',
      headers: {
        'ce-specversion': '1.0',
        'ce-id': '1',
        'ce-source': '/test',
        'ce-type': 'dev.knative.apiserver.ref.update',
        'ce-apiversion': Widget.apiVersion,
        'ce-kind': Widget.kind,
        'ce-namespace': 'lab',
        'ce-name': 'w',
        ...more,
      },
    });
  return { post, drain, told };
}

describe('a function that is served', () => {
  test('says of each write what it is about and where it moves the image', async () => {
    await served().post();
    expect(named('patchStatus Widget')[0]?.attributes).toEqual({
      'ot.function': 'turn-widget',
      'ot.image.uid': '8f3c',
      'ot.image.revision': '2',
      'ot.image.phase': 'Done',
      'k8s.object.kind': 'Widget',
      'k8s.object.name': 'w',
      'k8s.namespace.name': 'lab',
    });
    expect(named('turn-widget reconcile')[0]?.attributes).toEqual({
      'ot.function': 'turn-widget',
      'ot.batch': 'event',
      'faas.trigger': 'pubsub',
      'messaging.system': 'knative',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.message.id': '1',
      'cloudevents.event_id': '1',
      'cloudevents.event_type': 'dev.knative.apiserver.ref.update',
      'cloudevents.event_source': '/test',
      'cloudevents.event_spec_version': '1.0',
    });
  });
  test('says of a reconcile of several events how many they are, and no secret of a source', () => {
    const origins = traceOrigins();
    expect(origins.take()).toEqual({ traces: [], attributes: {} });
    origins.note({ 'ce-id': '1', 'ce-source': 'https://user:word@ci.example/labs?token=1', 'ce-subject': 'a\nb' });
    expect(origins.take().attributes).toMatchObject({
      'cloudevents.event_source': 'https://ci.example/labs',
      'cloudevents.event_subject': 'a?b',
    });
    for (const id of ['1', '2']) origins.note({ 'ce-id': id });
    expect(origins.take().attributes).toEqual({
      'messaging.system': 'knative',
      'messaging.operation.name': 'process',
      'messaging.operation.type': 'process',
      'messaging.batch.message_count': 2,
    });
  });
  test('puts a write into the trace of the object, of an image that of the revision which the write begins', async () => {
    const of = { ...widget, status: { phase: 'Succeeded', revision: 1 } };
    await served({ action: { do: 'patchMetadata', resource: VMDiskImage, of, metadata: {} } }).post();
    const begins = { phase: 'Queued', revision: 2 };
    await served({ action: { do: 'patchStatus', resource: VMDiskImage, of, status: begins } }).post();
    const written = [...named('patchMetadata VMDiskImage'), ...named('patchStatus VMDiskImage')];
    expect(written.map(({ attributes }) => [attributes['ot.image.revision'], attributes['ot.image.phase']])).toEqual([
      ['1', 'Succeeded'],
      ['2', 'Queued'],
    ]);
    const traces = [1, 2].map((revision) => spanContextOf({ uid: widget.metadata.uid, revision }).traceId);
    expect(written.map((span) => span.spanContext().traceId)).toEqual(traces);
  });
  test('says of a write for a machine which machine, where that moves it, and on which image', async () => {
    const trace = {
      machine: { uid: '8f3c', phase: 'Provisioning' },
      image: { uid: '9a', revision: 3, phase: 'Succeeded' },
    };
    const status: Action = { do: 'patchStatus', resource: Widget, of: widget, status: { phase: 'Ready' }, trace };
    await served({ action: status }).post();
    await served({ action: { ...status, status: { message: 'Waiting.' } } }).post();
    const words = ({ attributes }: ReadableSpan) =>
      Object.fromEntries(Object.entries(attributes).filter(([key]) => /^ot\.(image|machine)/.test(key)));
    const common = {
      'ot.image.uid': '9a',
      'ot.image.revision': '3',
      'ot.image.phase': 'Succeeded',
      'ot.machine.uid': '8f3c',
    };
    expect(named('patchStatus Widget').map(words)).toEqual([
      { ...common, 'ot.machine.phase': 'Ready' },
      { ...common, 'ot.machine.phase': 'Provisioning' },
    ]);
  });
  test('says how long something took as a span from its beginning, in the trace of whom it was for', async () => {
    const since = '2026-01-01T00:00:00.000Z';
    const trace = { machine: { uid: '8f3c' }, image };
    const waited: Action = { do: 'measure', metric: 'ot.machine.ready.duration', value: 2.5, since, trace };
    const { post, drain } = served({ action: waited });
    await post();
    await drain();
    const [span, ...others] = named('ot.machine.ready.duration');
    expect(others).toEqual([]);
    expect(span?.spanContext().traceId).toBe(spanContextOf(trace).traceId);
    expect(tracesLinked(span)).toEqual([spanContextOf(image).traceId]);
    expect([span?.startTime, span?.endTime]).toEqual([
      [Date.parse(since) / 1000, 0],
      [Date.parse(since) / 1000 + 2, 500_000_000],
    ]);
    expect(span?.attributes).toEqual({
      'ot.function': 'turn-widget',
      'ot.machine.uid': '8f3c',
      'ot.image.uid': '8f3c',
      'ot.image.revision': '2',
    });
  });
  test('says of a write for a workspace which workspace and where that moves it, and of no image', async () => {
    const trace = { workspace: { uid: '8f3c', phase: 'Provisioning' }, images: [image], machines: [] };
    await served({
      action: { do: 'patchStatus', resource: Widget, of: widget, status: { phase: 'Ready' }, trace },
    }).post();
    const { attributes = {} } = named('patchStatus Widget')[0] ?? {};
    expect(attributes).toMatchObject({ 'ot.workspace.uid': '8f3c', 'ot.workspace.phase': 'Ready' });
    expect(Object.keys(attributes).filter((key) => key.startsWith('ot.image'))).toEqual([]);
  });
  test('tells neither the spec nor the Secret of what it makes', async () => {
    const object = {
      metadata: { name: 'root-disk', namespace: 'lab' },
      spec: { url: 'https://s3/images/a.qcow2?X-Amz-Signature=abc' },
      stringData: { password: 'hunter2' },
    };
    await served({ action: { do: 'create', resource: Widget, object, trace: image } }).post();
    const told = JSON.stringify(
      spans.map(({ name, attributes, status, events }) => [name, attributes, status, events]),
    );
    expect(told).toContain('root-disk');
    for (const secret of ['hunter2', 'X-Amz', 's3/images', '?']) expect(told).not.toContain(secret);
  });
  test('tells others which trace they may join, and nothing that is no part of the event', async () => {
    const event = { type: 'widget.turned.v1', id: '1', subject: 'lab/w', data: { turns: 3 } };
    const { post, drain, told } = served({ action: { do: 'publish', ...event, trace: image } });
    await post();
    await drain();
    expect(told).toEqual([{ ...event, attributes: { traceparent: traceparentOf(image) } }]);
  });
  test('links a reconcile with the traces of all events that share it, and with those of no other', async () => {
    const gate = Promise.withResolvers<unknown>();
    let writes = 0;
    const { post } = served({ write: async () => (writes++ === 0 ? gate.promise : widget) });
    const first = post({ 'ce-traceparent': pipeline });
    await new Promise((resolve) => setImmediate(resolve));
    const rest = [post({ traceparent: other }), post({ 'ce-traceparent': other }), post()];
    await new Promise((resolve) => setImmediate(resolve));
    gate.resolve(widget);
    await Promise.all([first, ...rest]);
    const links = named('turn-widget reconcile').map((reconcile) =>
      tracesLinked(reconcile)?.filter((traceId) => traceId !== spanContextOf(image).traceId),
    );
    expect(links).toEqual([['4bf92f3577b34da6a3ce929d0e0e4736'], ['a'.repeat(32)]]);
  });
  test('counts the time to every answer by its result, and every write that a rival was faster with', async () => {
    const { post } = served();
    await post();
    await post({ 'ce-kind': 'Gadget' });
    await post({ 'ce-id': '' });
    await served({ write: () => Promise.reject(new ApiError(409, 'Conflict', 'modified')) }).post();
    const text = await running.metrics();
    for (const result of ['done', 'ignored', 'malformed', 'conflict']) {
      expect(text).toContain(`ot_event_handling_duration_seconds_count{function="turn-widget",result="${result}"} 1\n`);
    }
    expect(text).toContain('ot_write_conflicts_total{function="turn-widget"} 5\n');
    const counted = [...text.matchAll(/^http_server_request_duration_seconds_count\{(.*)\} (\d+)$/gm)];
    expect(counted.map(([, labels, count]) => `${labels} ${count}`).sort()).toEqual(
      ['202', '204', '400', '409'].map(
        (status) =>
          `http_request_method="POST",http_response_status_code="${status}",http_route="/",url_scheme="http" 1`,
      ),
    );
  });
  test('counts what a timer alone led to, and no event had', async () => {
    const { post, drain } = served();
    await post();
    await drain();
    expect(await running.metrics()).not.toContain('ot_events_missed_total{');
    const sweep = '/apis/v1/namespaces/sync-operator/pingsources/images-sweep';
    await post({ 'ce-type': 'dev.knative.sources.ping', 'ce-source': sweep });
    await drain();
    expect(await running.metrics()).toContain('ot_events_missed_total{function="turn-widget",timer="sweep"} 1\n');
  });
});
