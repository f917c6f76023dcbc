import { KubeConfig } from '@kubernetes/client-node';
import { verified } from '../../functions/preload/index.ts';
import { kubeClient } from '../../shared/runtime/kube.ts';
import { startTelemetry } from '../../shared/runtime/telemetry/sdk.ts';
import { telemetryOf } from '../../shared/runtime/telemetry/telemetry.ts';
import { imageMaker } from './make-image.ts';
import { settingsFrom, startGateway } from './start.ts';

/** The gateway as a process: `main.js gateway` in the image. Runs until SIGTERM, and answers first what it has begun. */
export async function run(): Promise<void> {
  const telemetry = await startTelemetry({
    serviceName: 'gateway',
    metricsPort: Number(process.env.METRICS_PORT ?? 9464),
    metricsHost: '0.0.0.0',
  });
  const config = new KubeConfig();
  config.loadFromDefault();
  const images = imageMaker(verified, { kube: kubeClient(config), telemetry: telemetryOf('gateway') });
  const gateway = await startGateway(settingsFrom(process.env), images);
  console.log(JSON.stringify({ level: 'info', function: 'gateway', message: `listens at ${gateway.url}` }));
  process.once('SIGTERM', async () => {
    await gateway.close();
    await images.drain();
    await telemetry.shutdown();
    process.exit(0);
  });
}
