import type { Kube } from '../../shared/runtime/kube.ts';
import { observeDownloads, observeState } from '../../shared/runtime/telemetry/gauges.ts';
import { startTelemetry } from '../../shared/runtime/telemetry/sdk.ts';
import { observeServers } from '../../shared/runtime/telemetry/server-gauges.ts';

interface LocalTelemetryOptions {
  /** Port of `/metrics` on loopback; 0 takes a free one. */
  metricsPort: number;
  /** The API as the function sees it that computes the gauges. */
  kube: Pick<Kube, 'get' | 'pages'>;
  /** The same of the function that counts machines on OpenStack, where there is one. */
  serverKube?: Pick<Kube, 'pages'> | undefined;
  /** Bytes that the object store has sent so far, if it counts them. */
  bytesSent?: (() => number) | undefined;
}

/** Telemetry of a whole local cluster: its functions share this process, so they share one SDK and one `/metrics`. */
export async function startLocalTelemetry({ metricsPort, kube, serverKube, bytesSent }: LocalTelemetryOptions) {
  const { metricsUrl, metrics, shutdown } = await startTelemetry({ serviceName: 'ot-functions', metricsPort });
  const ends = [
    observeState(kube),
    ...(serverKube ? [observeServers(serverKube)] : []),
    ...(bytesSent ? [observeDownloads(bytesSent)] : []),
  ];
  return {
    metricsUrl,
    metrics,
    close: async () => {
      for (const end of ends) end();
      await shutdown();
    },
  };
}
