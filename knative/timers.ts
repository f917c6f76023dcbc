import { operatorNamespace } from '../shared/operator.ts';
import { brokerName } from './broker.ts';
import { type Manifest, partOf } from './manifest.ts';

/** The timers that wake functions, by the subscription's kind. */
const schedules = { sweep: '*/30 * * * * *', audit: '0 */10 * * * *' } as const;

/** One PingSource for each timer. */
export const timerManifests = (): Manifest[] =>
  Object.entries(schedules).map(([name, schedule]) => ({
    apiVersion: 'sources.knative.dev/v1',
    kind: 'PingSource',
    metadata: { name, namespace: operatorNamespace, labels: partOf },
    spec: {
      schedule,
      contentType: 'application/json',
      data: '{}',
      sink: { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: brokerName } },
    },
  }));
