import { afterEach, test, vi } from 'vitest';
import { startTelemetry } from '../../../shared/runtime/telemetry/sdk.ts';
import { startCollector } from '../../support/tools/otlp-collector.ts';
import { onLocalCluster } from '../local-world.ts';
import { postWithFetch } from '../preload.ts';
import { storyWith } from '../traces.ts';

afterEach(() => vi.unstubAllEnvs());

test('a collector gets one trace from the event, or the apply, to Ready, in which each function has its part', async () => {
  const collector = await startCollector();
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.url);
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '200');
  const { shutdown } = await startTelemetry({ serviceName: 'ot-functions' });
  try {
    await onLocalCluster(storyWith(collector, postWithFetch, 30_000));
  } finally {
    await shutdown();
    await collector.close();
  }
}, 90_000);
