import type { Resolve } from './address.ts';
import { refusedFilter } from './filters.ts';
import type { EventingObjects } from './objects.ts';
import type { Trigger } from './resources.ts';
import { policyOf } from './retries.ts';
import type { Report } from './status.ts';

/** Why no event is brought to this Trigger, or undefined where nothing stands against it. */
export function troubleOf(
  { metadata: { namespace = '' }, spec }: Trigger,
  brokers: EventingObjects['brokers'],
  resolve: Resolve,
): Report['trouble'] {
  const refused = refusedFilter(spec.filters);
  if (refused) return { reason: 'FilterNotSupported', message: refused };
  const broker = brokers.get(`${namespace}/${spec.broker}`);
  if (!broker) return { reason: 'BrokerDoesNotExist', message: `expected a Broker ${spec.broker}, found none` };
  try {
    const { delivery = broker.spec.delivery } = spec;
    policyOf(delivery);
    for (const destination of [spec.subscriber, delivery?.deadLetterSink, broker.spec.delivery?.deadLetterSink]) {
      if (destination) resolve(destination, namespace);
    }
    return undefined;
  } catch (error) {
    return { reason: 'NotResolved', message: error instanceof Error ? error.message : String(error) };
  }
}
