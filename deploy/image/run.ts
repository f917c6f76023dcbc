import { setTimeout as sleep } from 'node:timers/promises';
import { serve as listen } from '@hono/node-server';
import { KubeConfig } from '@kubernetes/client-node';
import type { FunctionDeclaration } from '../../shared/function.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import { withCaches } from '../../shared/runtime/cache.ts';
import { serve } from '../../shared/runtime/http.ts';
import { type Kube, kubeClient } from '../../shared/runtime/kube.ts';
import { openStackClients } from '../../shared/runtime/openstack/clouds.ts';
import { publisher } from '../../shared/runtime/publish.ts';
import { realPause } from '../../shared/runtime/reflect.ts';
import { observeState } from '../../shared/runtime/telemetry/gauges.ts';
import { observeServers } from '../../shared/runtime/telemetry/server-gauges.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';

/** The function that is always there computes the gauges of the state for all. */
const gaugesOf = 'start-sync';

/** The same of machines on OpenStack, where there are any. */
const serverGaugesOf = 'provision-server';

/** In a pod, listens on all addresses; outside a pod, set HOST to loopback. */
const hostname = process.env.HOST ?? '0.0.0.0';
const ports = { events: Number(process.env.PORT ?? 8080), metrics: Number(process.env.METRICS_PORT ?? 9464) };

/** A sixth of the shipped sweep's interval, a tenth of the audit's. Where timers tick quicker, TIMER_SPACING is `Off`. */
export const timerSpacing = { sweep: 5000, audit: 60_000 };

export const loadTelemetry = () => import('../../shared/runtime/telemetry/sdk.ts');

/** Serves the function of that name until SIGTERM; then finishes what it has begun and ends. */
export async function run(name: string, load: () => Promise<FunctionDeclaration>) {
  const kube = kubeClient(configured(), process.env.FIELD_VALIDATION === 'Strict' ? 'Strict' : 'Warn');
  const [declaration, telemetry] = await Promise.all([load(), startTelemetry(name, kube)]);
  const telemetryOfIt = telemetryOf(name);
  const ending = new AbortController();
  const served = serve(declaration, {
    ...withCaches(kube, declaration.caches, { pause: realPause, signal: ending.signal }),
    telemetry: telemetryOfIt,
    ...(declaration.part === 'openstack'
      ? { clouds: openStackClients({ kube, telemetry: telemetryOfIt, fetch, now: Date.now }) }
      : {}),
    ...(declaration.readsSources ? await import('../../shared/runtime/sources/read-source.ts') : {}),
    now: Date.now,
    pause: (milliseconds) => sleep(milliseconds),
    random: Math.random,
    ...(process.env.TIMER_SPACING === 'Off' ? {} : { timerSpacing }),
    publisher: publisher(
      () => process.env.K_SINK,
      sourceOf(name),
      fetch,
      () => process.env.K_SINK_TOKEN_FILE,
    ),
  });
  const server = listen({ fetch: served.app.fetch, port: ports.events, hostname });
  process.once('SIGTERM', async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    if ('closeIdleConnections' in server) server.closeIdleConnections();
    await closed;
    await served.drain();
    ending.abort();
    await telemetry.shutdown();
    process.exit();
  });
}

const sourceOf = (name: string) => `/apis/v1/namespaces/${operatorNamespace}/services/${name}`;

function configured(): KubeConfig {
  const config = new KubeConfig();
  config.loadFromDefault();
  return config;
}

async function startTelemetry(name: string, kube: Kube) {
  const sdk = await loadTelemetry();
  const telemetry = await sdk.startTelemetry({
    serviceName: name,
    metricsPort: ports.metrics,
    metricsHost: hostname,
  });
  if (name === gaugesOf) observeState(kube);
  if (name === serverGaugesOf) observeServers(kube);
  return telemetry;
}
