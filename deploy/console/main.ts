import { KubeConfig } from '@kubernetes/client-node';
import { kubeClient } from '../../shared/runtime/kube.ts';
import { startTelemetry } from '../../shared/runtime/telemetry/sdk.ts';
import { startConsole } from './start.ts';

/** The console as a process: `main.mjs console` in the image. Runs until SIGTERM. */
export async function run(): Promise<void> {
  const config = new KubeConfig();
  config.loadFromDefault();
  const host = process.env.HOST ?? '0.0.0.0';
  const telemetry = await startTelemetry({
    serviceName: 'console',
    metricsPort: Number(process.env.METRICS_PORT ?? 9464),
    metricsHost: host,
  });
  const page = await startConsole({ kube: kubeClient(config), host, port: Number(process.env.PORT ?? 8080) });
  console.log(JSON.stringify({ level: 'info', function: 'console', message: `listens at ${page.url}` }));
  process.once('SIGTERM', async () => {
    await page.close();
    await telemetry.shutdown();
    process.exit(0);
  });
}
