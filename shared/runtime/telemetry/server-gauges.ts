import { metrics as api, type ObservableResult } from '@opentelemetry/api';
import { KupenStackMachine, serverPhases } from '../../kinds/kupenstack/virtual-machine.ts';
import type { Kube } from '../kube.ts';
import { add, unseen } from './gauge-points.ts';
import { metricOf } from './metrics.ts';
import { scope } from './telemetry.ts';

/**
 * Counts machines on OpenStack by phase at each scrape, which the function that makes them does; the returned function ends it. What
 * cannot be read is absent from that scrape. Start the SDK first.
 */
export function observeServers(kube: Pick<Kube, 'pages'>): () => void {
  const { name, unit, description } = metricOf('ot.servers');
  const gauge = api.getMeter(scope).createObservableGauge(name, { unit, description });
  const observe = async (result: ObservableResult) => {
    const counts = new Map<string, number>([unseen, ...serverPhases].map((phase) => [phase, 0]));
    try {
      for await (const { items } of kube.pages(KupenStackMachine)) {
        for (const { status } of items) add(counts, status?.phase ?? unseen);
      }
    } catch (error) {
      const message = `metrics without machines on OpenStack: ${error instanceof Error ? error.message : String(error)}`;
      console.error(JSON.stringify({ level: 'warn', message: message.slice(0, 500) }));
      // The SDK repeats what is not observed; NaN leaves it out.
      for (const phase of counts.keys()) counts.set(phase, Number.NaN);
    }
    for (const [phase, count] of counts) result.observe(count, { phase });
  };
  gauge.addCallback(observe);
  return () => gauge.removeCallback(observe);
}
