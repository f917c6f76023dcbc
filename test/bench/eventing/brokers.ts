import type { Kube } from '../../../shared/runtime/kube.ts';
import { allReady, Broker, Trigger } from '../../proofs/contract/eventing/objects.ts';

/** A Broker with one Trigger that wants every event and some that want none of them. */
export interface MeasuredBroker {
  name: string;
  /** How many Triggers do not match. */
  others: number;
  isAsync: boolean;
}

export const namesOf = (others: readonly number[]): MeasuredBroker[] =>
  others.flatMap((count) =>
    [false, true].map((isAsync) => ({ name: `${isAsync ? 'async' : 'sync'}-${count}`, others: count, isAsync })),
  );

/** Makes the Brokers and their Triggers, and resolves when all are ready. */
export async function makeBrokers(
  kube: Kube,
  namespace: string,
  brokers: readonly MeasuredBroker[],
  urlOf: (broker: string) => string,
): Promise<void> {
  for (const broker of brokers) {
    const { name } = broker;
    await kube.create(Broker, {
      metadata: { name, namespace, annotations: annotationsOf(broker) },
      spec: { delivery },
    });
    for (const trigger of triggersOf(broker, urlOf(name))) {
      await kube.create(Trigger, { metadata: { name: trigger.name, namespace }, spec: trigger.spec });
    }
  }
  await Promise.all([allReady(kube, Broker, namespace), allReady(kube, Trigger, namespace)]);
}

const delivery = { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' };

const annotationsOf = ({ isAsync }: MeasuredBroker) =>
  isAsync ? { 'messaging.knative.dev/async-handler': 'true' } : {};

/** The filters have the form of ours: any of several kinds. */
function triggersOf({ name: broker, others }: MeasuredBroker, url: string) {
  const wanting = (...kinds: string[]) => ({
    broker,
    filters: [{ any: kinds.map((kind) => ({ exact: { apiversion: 'bench.example.com/v1', kind } })) }],
    subscriber: { uri: url },
  });
  return [
    ...Array.from({ length: others }, (_, index) => ({
      name: `${broker}-other-${index}`,
      spec: wanting('First', 'Second', 'Third', 'Fourth'),
    })),
    { name: `${broker}-matching`, spec: wanting('First', 'Second', 'Third', 'Wanted') },
  ];
}

/** The headers of an event that only the matching Triggers want; its size is that of a reference. */
export const headersOf = (id: string): Record<string, string> => ({
  'ce-specversion': '1.0',
  'ce-type': 'dev.knative.apiserver.ref.update',
  'ce-source': 'https://10.96.0.1:443',
  'ce-subject': '/apis/bench.example.com/v1/namespaces/default/wanteds/w1',
  'ce-apiversion': 'bench.example.com/v1',
  'ce-kind': 'Wanted',
  'ce-name': 'w1',
  'ce-namespace': 'default',
  'ce-id': id,
  'content-type': 'application/json',
});

export const eventBody = '{"kind":"Wanted","namespace":"default","name":"w1","apiVersion":"bench.example.com/v1"}';
