import type { Watching } from '../../../shared/runtime/reflect.ts';
import type { Clock } from '../clock.ts';
import { follow } from './follow.ts';
import { ApiServerSource, Broker, PingSource, Trigger } from './resources.ts';

/** The eventing objects of the cluster as last heard of, by namespace/name. */
export interface EventingObjects {
  brokers: ReadonlyMap<string, Broker>;
  triggers: ReadonlyMap<string, Trigger>;
  apiServerSources: ReadonlyMap<string, ApiServerSource>;
  pingSources: ReadonlyMap<string, PingSource>;
}

/** Keeps up with the eventing objects; `start` resolves once all there are have been read. */
export function eventingObjects(kube: Watching, context: { clock: Clock; signal: AbortSignal }) {
  const brokers = new Map<string, Broker>();
  const triggers = new Map<string, Trigger>();
  const apiServerSources = new Map<string, ApiServerSource>();
  const pingSources = new Map<string, PingSource>();
  const objects: EventingObjects = { brokers, triggers, apiServerSources, pingSources };
  const start = async (onChange: { ofSubscriptions(): void; ofSources(): void }) => {
    await Promise.all([
      follow(kube, Broker, context, brokers, onChange.ofSubscriptions),
      follow(kube, Trigger, context, triggers, onChange.ofSubscriptions),
    ]);
    await Promise.all([
      follow(kube, ApiServerSource, context, apiServerSources, onChange.ofSources),
      follow(kube, PingSource, context, pingSources, onChange.ofSources),
    ]);
  };
  return { objects, start };
}
