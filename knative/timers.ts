import { timerName } from '../shared/event-filter.ts';
import type { FunctionDeclaration } from '../shared/function.ts';
import { operatorNamespace, partOf } from '../shared/operator.ts';
import { brokerSink, systemsOf } from './broker.ts';
import type { Manifest } from './manifest.ts';

/** The timers that wake functions, by the subscription's kind. */
export const schedules = { sweep: '*/30 * * * * *', audit: '0 */10 * * * *' } as const;

/** A PingSource for each timer that the functions of a system ask for: Knative runs all of them in one process. */
export const timerManifests = (functions: readonly FunctionDeclaration[]): Manifest[] =>
  systemsOf(functions).flatMap((system) => {
    const asked = new Set(
      functions.filter((one) => one.system === system).flatMap(({ on }) => on.map((one) => one.on)),
    );
    return (['sweep', 'audit'] as const)
      .filter((timer) => asked.has(timer))
      .map((timer) => ({
        apiVersion: 'sources.knative.dev/v1',
        kind: 'PingSource',
        metadata: { name: timerName(system, timer), namespace: operatorNamespace, labels: partOf },
        spec: { schedule: schedules[timer], contentType: 'application/json', data: '{}', sink: brokerSink(system) },
      }));
  });
