import { expect, test } from 'vitest';
import { documents } from '../../manifests.ts';
import { classFault } from './broker-class.ts';

const brokers = (...classes: (string | undefined)[]) =>
  documents(
    classes
      .map((one, index) => {
        const annotations = one ? `annotations: { eventing.knative.dev/broker.class: ${one} }` : '';
        return `{ apiVersion: eventing.knative.dev/v1, kind: Broker, metadata: { name: b${index}, namespace: sync-operator, ${annotations} } }`;
      })
      .join('\n---\n'),
  );

test.each([
  [[], ['Kafka'], undefined],
  [['Kafka'], ['Kafka'], undefined],
  [[undefined], ['MTChannelBasedBroker'], undefined],
  [['Kafka', 'MTChannelBasedBroker'], ['Kafka', 'Kafka'], 'expected Broker b1 to stay of class MTChannelBasedBroker'],
  [['Kafka'], [undefined], 'expected Broker b0 to stay of class Kafka, found MTChannelBasedBroker'],
])('Brokers of %j, wanted %j: %s', (installed, wanted, expected) => {
  const found = classFault(brokers(...installed), brokers(...wanted));
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toContain(expected);
});
