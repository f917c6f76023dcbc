import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics as api, context, createNoopMeter, propagation, trace } from '@opentelemetry/api';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { hasCollector, otlpReaders } from './otlp.ts';
import { type RunningTelemetry, startTelemetry } from './sdk.ts';
import { telemetryOf } from './telemetry.ts';

const running: RunningTelemetry[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const { shutdown } of running.splice(0)) await shutdown();
});

const started = async (...[options]: Parameters<typeof startTelemetry>) => {
  const telemetry = await startTelemetry(options);
  running.push(telemetry);
  return telemetry;
};

const oneConflict = () => telemetryOf('start-sync').measure('ot.lease.conflicts', 1, { function: 'start-sync' });

describe('/metrics', () => {
  test('is Prometheus text of version 0.0.4 on a free port, and nothing else is there', async () => {
    const { metricsUrl = '', metrics } = await started({ serviceName: 'start-sync', metricsPort: 0 });
    oneConflict();
    const response = await fetch(metricsUrl);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await response.text();
    expect(text).toBe(await metrics());
    expect(text).toContain(
      '# HELP ot_lease_conflicts_total Writes of the slot Lease that conflicted with another writer.\n# TYPE ot_lease_conflicts_total counter\not_lease_conflicts_total{function="start-sync"} 1\n',
    );
    expect((await fetch(new URL('/', metricsUrl))).status).toBe(404);
  });
  test('has a line for each sample that Prometheus can read', async () => {
    const { metrics } = await started({ serviceName: 'start-sync' });
    const { measure } = telemetryOf('follow-sync');
    measure('ot.image.sync.duration', 12.5, { result: 'success' });
    measure('ot.image.sync.attempts', 1, { result: 'success', reason: 'a "quoted"\nreason' });
    for (const line of (await metrics()).trim().split('\n')) {
      expect(line).toMatch(/^(# (HELP|TYPE|UNIT) [a-z_]+ .+|[a-z_]+(\{([a-z_]+="([^"\\\n]|\\.)*",?)+\})? \S+)$/);
    }
  });
  test('says which service, version and pod it speaks for', async () => {
    vi.stubEnv('POD_NAME', 'start-sync-00001-deployment-abc');
    vi.stubEnv('POD_NAMESPACE', 'sync-operator');
    const [info] = (await (await started({ serviceName: 'start-sync' })).metrics()).match(/^target_info\{.*$/m) ?? [];
    expect(info).toContain('service_name="start-sync"');
    expect(info).toMatch(/service_version="\d+\.\d+\.\d+"/);
    expect(info).toContain('k8s_pod_name="start-sync-00001-deployment-abc"');
    expect(info).toContain('k8s_namespace_name="sync-operator"');
    expect(info).not.toMatch(/command|owner|executable/);
  });
  test('answers 503 while OTEL_SDK_DISABLED switches the SDK off, and functions go on', async () => {
    vi.stubEnv('OTEL_SDK_DISABLED', 'true');
    const { metricsUrl = '' } = await started({ serviceName: 'start-sync', metricsPort: 0 });
    oneConflict();
    expect((await fetch(metricsUrl)).status).toBe(503);
  });
});

describe('the SDK of a process', () => {
  test('leaves nothing registered behind, and can be started again, from nothing', async () => {
    const before = [api.getMeterProvider(), trace.getTracer('x').constructor.name];
    for (const serviceName of ['first', 'second']) {
      const telemetry = await startTelemetry({ serviceName });
      expect(await telemetry.metrics()).not.toContain('ot_lease_conflicts_total');
      oneConflict();
      expect(await telemetry.metrics()).toContain('ot_lease_conflicts_total{function="start-sync"} 1');
      await telemetry.shutdown();
    }
    expect([api.getMeterProvider(), trace.getTracer('x').constructor.name]).toEqual(before);
    expect(propagation.fields()).toEqual([]);
    const key = Symbol('key');
    expect(context.with(context.active().setValue(key, 1), () => context.active().getValue(key))).toBeUndefined();
  });
  test('is one: a second start is refused and harms the first in nothing', async () => {
    const { metrics } = await started({ serviceName: 'first' });
    await expect(startTelemetry({ serviceName: 'second' })).rejects.toThrow('found one running');
    oneConflict();
    expect(await metrics()).toContain('ot_lease_conflicts_total{function="start-sync"} 1');
  });
  test('is one, even where two start at once', async () => {
    const results = await Promise.allSettled(['a', 'b'].map((serviceName) => started({ serviceName })));
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
  test('that cannot have its port is stopped again', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    await expect(startTelemetry({ serviceName: 'start-sync', metricsPort: port })).rejects.toThrow('EADDRINUSE');
    await started({ serviceName: 'start-sync' });
    await new Promise((resolve) => taken.close(resolve));
  });
});

/** A collector that notes what is posted to it. */
async function collector() {
  const heard: { path: string; body: string }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    heard.push({ path: request.url ?? '', body: Buffer.concat(chunks).toString('latin1') });
    response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url, heard, close };
}

describe('a collector', () => {
  test('that the environment names gets metrics and traces, the last of them at shutdown', async () => {
    const { url, heard, close } = await collector();
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', url);
    const { shutdown, metrics } = await startTelemetry({ serviceName: 'prune' });
    oneConflict();
    await telemetryOf('prune').span('delete DataVolume', { uid: 'a', revision: 1 }, {}, async () => undefined);
    expect(await metrics()).toContain('ot_lease_conflicts_total');
    await shutdown();
    await close();
    const bodyAt = (path: string) => heard.find((request) => request.path === path)?.body;
    expect(bodyAt('/v1/metrics')).toContain('ot.lease.conflicts');
    expect(bodyAt('/v1/traces')).toContain('delete DataVolume');
  });
  test('that is away holds up no shutdown for long, and leaves nothing registered', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
    const spy = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { shutdown } = await startTelemetry({ serviceName: 'prune' });
    oneConflict();
    const startedMs = performance.now();
    await shutdown();
    expect(performance.now() - startedMs).toBeLessThan(6000);
    expect(api.getMeter('any')).toBe(createNoopMeter());
    spy.mockRestore();
  });
  test('that has no name is not looked for', async () => {
    expect(await otlpReaders({})).toEqual([]);
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', undefined);
    await started({ serviceName: 'prune' });
    const isRecording = trace.getTracer('x').startSpan('y').isRecording();
    expect(isRecording).toBe(false);
  });
  test.each([
    [{}, false, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, false, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, true, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318' }, true, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, false, true],
  ])('by %j is there for traces: %s, for metrics: %s', (env, traces, metrics) => {
    expect([hasCollector('TRACES', env), hasCollector('METRICS', env)]).toEqual([traces, metrics]);
  });
  test.each(['http/protobuf', 'http/json', 'grpc'])('is spoken to by %s', async (protocol) => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9');
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: protocol };
    expect(await otlpReaders(env)).toHaveLength(1);
  });
  test('cannot be spoken to by a protocol there is not', async () => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', OTEL_EXPORTER_OTLP_PROTOCOL: 'smoke' };
    await expect(otlpReaders(env)).rejects.toThrow('expected http/protobuf, http/json or grpc, found smoke');
  });
});
