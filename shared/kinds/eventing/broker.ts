import { defineResource, type ObjectOf } from '../resource.ts';

/** The Broker between the senders of events and the functions. */
export const Broker = defineResource({ apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', plural: 'brokers' }, {});
export type Broker = ObjectOf<typeof Broker>;
