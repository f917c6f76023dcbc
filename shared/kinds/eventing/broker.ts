import { defineResource, type ObjectOf } from '../resource.ts';

/** What stands between those who send events and the functions. */
export const Broker = defineResource({ apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', plural: 'brokers' }, {});
export type Broker = ObjectOf<typeof Broker>;
