import * as z from 'zod';
import { defineResource, type ObjectOf } from '../../../shared/kinds/resource.ts';

const Destination = z.object({
  ref: z
    .object({ apiVersion: z.string().optional(), kind: z.string(), name: z.string(), namespace: z.string().optional() })
    .optional(),
  uri: z.string().optional(),
});
/** Where events go: an object with an address, a URL, or a path below the object's address. */
export type Destination = z.infer<typeof Destination>;

const Delivery = z.object({
  retry: z.number().optional(),
  backoffPolicy: z.enum(['linear', 'exponential']).optional(),
  backoffDelay: z.string().optional(),
  timeout: z.string().optional(),
  deadLetterSink: Destination.optional(),
});
/** How often and how long delivery is tried, and where undelivered events are sent. */
export type Delivery = z.infer<typeof Delivery>;

const attributes = z.record(z.string(), z.string());
const Filter = z.object({
  exact: attributes.optional(),
  prefix: attributes.optional(),
  suffix: attributes.optional(),
  cesql: z.string().optional(),
  get all() {
    return z.array(Filter).optional();
  },
  get any() {
    return z.array(Filter).optional();
  },
  get not() {
    return Filter.optional();
  },
});
/** One entry of a Trigger's filters: exactly one dialect. */
export type Filter = z.infer<typeof Filter>;

const LabelSelector = z.object({
  matchLabels: z.record(z.string(), z.string()).optional(),
  matchExpressions: z
    .array(z.object({ key: z.string(), operator: z.string(), values: z.array(z.string()).optional() }))
    .optional(),
});
export type LabelSelector = z.infer<typeof LabelSelector>;

const status = z.looseObject({}).optional();
const ceOverrides = z.object({ extensions: attributes.optional() }).optional();

export const Broker = defineResource(
  { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', plural: 'brokers' },
  { spec: z.object({ delivery: Delivery.optional() }).default({}), status },
);
export type Broker = ObjectOf<typeof Broker>;

export const Trigger = defineResource(
  { apiVersion: 'eventing.knative.dev/v1', kind: 'Trigger', plural: 'triggers' },
  {
    spec: z.object({
      broker: z.string().default('default'),
      filter: z.object({ attributes: attributes.optional() }).optional(),
      filters: z.array(Filter).optional(),
      subscriber: Destination,
      delivery: Delivery.optional(),
    }),
    status,
  },
);
export type Trigger = ObjectOf<typeof Trigger>;

export const ApiServerSource = defineResource(
  { apiVersion: 'sources.knative.dev/v1', kind: 'ApiServerSource', plural: 'apiserversources' },
  {
    spec: z.object({
      mode: z.enum(['Reference', 'Resource']).default('Reference'),
      serviceAccountName: z.string().default('default'),
      resources: z.array(z.object({ apiVersion: z.string(), kind: z.string(), selector: LabelSelector.optional() })),
      namespaceSelector: LabelSelector.optional(),
      sink: Destination,
      ceOverrides,
    }),
    status,
  },
);
export type ApiServerSource = ObjectOf<typeof ApiServerSource>;

export const PingSource = defineResource(
  { apiVersion: 'sources.knative.dev/v1', kind: 'PingSource', plural: 'pingsources' },
  {
    spec: z.object({
      schedule: z.string().default('* * * * *'),
      timezone: z.string().optional(),
      contentType: z.string().optional(),
      data: z.string().optional(),
      dataBase64: z.string().optional(),
      sink: Destination,
      ceOverrides,
    }),
    status,
  },
);
export type PingSource = ObjectOf<typeof PingSource>;
