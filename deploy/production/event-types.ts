import * as z from 'zod';
import { facts } from '../../shared/events.ts';
import { Broker } from '../../shared/kinds/eventing/broker.ts';
import { defineResource } from '../../shared/kinds/resource.ts';
import { operatorNamespace, partOf, publicBroker } from '../../shared/operator.ts';
import { eventSchema } from './event-schema.ts';

/** Knative's entry in the list of events that a Broker has. v1beta2 is what it stores: v1beta3 has no place for a schema. */
export const EventType = defineResource(
  { apiVersion: 'eventing.knative.dev/v1beta2', kind: 'EventType', plural: 'eventtypes' },
  {
    spec: z.object({
      type: z.string(),
      description: z.string(),
      schema: z.string(),
      schemaData: z.string(),
      reference: z.object({ apiVersion: z.string(), kind: z.string(), name: z.string() }),
    }),
  },
);

/** One EventType for each fact, so that `kubectl get eventtypes` lists what a Trigger can select. */
export const eventTypes = () =>
  Object.entries(facts).map(([type, fact]) => {
    const schema = eventSchema(type, fact);
    return {
      apiVersion: EventType.apiVersion,
      kind: EventType.kind,
      metadata: { name: type, namespace: operatorNamespace, labels: partOf },
      spec: {
        type,
        description: schema.description,
        schema: schema.$id,
        // On one line: readers of YAML differ on folded text whose lines are indented.
        schemaData: JSON.stringify(schema),
        reference: { apiVersion: Broker.apiVersion, kind: Broker.kind, name: publicBroker },
      },
    };
  });
