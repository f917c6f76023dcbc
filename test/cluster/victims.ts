import { killApiServer, startApiServer } from './control-plane.ts';
import { killPods } from './kill-pods.ts';

const functionPod = (name: string) => killPods('sync-operator', `app.kubernetes.io/name=${name}`);

/** What may die at any moment on a real cluster, and how it is killed; resolves when it is dead and about to come back. */
export const victims = {
  'start-sync': functionPod('start-sync'),
  'follow-sync': functionPod('follow-sync'),
  'all functions': killPods('sync-operator', 'app.kubernetes.io/part-of=ot-functions'),
  'the adapters of all sources': killPods('sync-operator', 'eventing.knative.dev/source=apiserver-source-controller'),
  "the Broker's filter": killPods('knative-eventing', 'eventing.knative.dev/brokerRole=filter'),
  "the Broker's ingress": killPods('knative-eventing', 'eventing.knative.dev/brokerRole=ingress'),
  "the channel's dispatcher": killPods('knative-eventing', 'messaging.knative.dev/role=dispatcher'),
  'the timers': killPods('knative-eventing', 'eventing.knative.dev/source=ping-source-controller'),
  'the API server': async () => {
    await killApiServer();
    await startApiServer();
  },
} satisfies Record<string, () => Promise<void>>;
