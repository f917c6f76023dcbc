/** One metric: OpenTelemetry's name and unit; the Prometheus exporter makes `name_unit` of it. */
export interface Metric {
  name: string;
  kind: 'counter' | 'histogram' | 'gauge';
  /** UCUM, as OpenTelemetry's conventions ask. */
  unit: string;
  description: string;
  labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in `unit`. */
  buckets?: readonly number[];
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const longSeconds = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800];

/** Every metric there is; the table in ARCHITECTURE.md is printed from here. */
export const metrics: readonly Metric[] = [
  {
    name: 'ot.image.queue.length',
    kind: 'gauge',
    unit: '{image}',
    description: 'Images that wait for a slot.',
    labels: [],
  },
  {
    name: 'ot.images',
    kind: 'gauge',
    unit: '{image}',
    description: 'Images that are not at rest, by phase.',
    labels: ['phase'],
  },
  { name: 'ot.slots.held', kind: 'gauge', unit: '{slot}', description: 'Sync slots held.', labels: [] },
  {
    name: 'ot.slots.free',
    kind: 'gauge',
    unit: '{slot}',
    description: 'Sync slots free under the policy.',
    labels: [],
  },
  {
    name: 'ot.policy.valid',
    kind: 'gauge',
    unit: '1',
    description: '1 while every key of the policy parses, else 0.',
    labels: [],
  },
  {
    name: 'ot.image.queue.wait.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From queued to slot.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.sync.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From slot to the end of the attempt; its count is the attempts by result and reason.',
    labels: ['result', 'reason'],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.ready.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From queued to a usable snapshot.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.download.estimated',
    kind: 'counter',
    unit: 'By',
    description: 'Bytes downloaded, estimated as disk size for each attempt (CDI tells none).',
    labels: ['result'],
  },
  {
    name: 'ot.image.download.io',
    kind: 'counter',
    unit: 'By',
    description: 'Bytes the object store sent (local cluster only, exact).',
    labels: [],
  },
  {
    name: 'ot.event.handling.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From an event to its answer.',
    labels: ['ot.function', 'result'],
    buckets: seconds,
  },
  {
    name: 'ot.lease.conflicts',
    kind: 'counter',
    unit: '{conflict}',
    description: 'Writes of the slot Lease that a rival was faster with.',
    labels: ['ot.function'],
  },
  {
    name: 'ot.write.conflicts',
    kind: 'counter',
    unit: '{conflict}',
    description: 'Writes of any object that somebody else was faster with.',
    labels: ['ot.function'],
  },
];
