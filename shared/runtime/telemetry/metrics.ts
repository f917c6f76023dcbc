/** One metric: OpenTelemetry's name and unit; shared/runtime/telemetry/metrics-prometheus.ts makes Prometheus' name of them. */
export interface Metric {
  name: string;
  /** OpenTelemetry's instrument; the observable ones are read at each scrape, the others written as things happen. */
  kind: 'counter' | 'histogram' | 'observableGauge' | 'observableCounter';
  /** UCUM, as OpenTelemetry's conventions ask: `s`, `By`, or what is counted as an annotation, `{image}`. */
  unit: string;
  description: string;
  /** Every point carries exactly these; their values are closed sets of words, or what the policy names; never a URL or a message. */
  labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in `unit`. */
  buckets?: readonly number[];
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const longSeconds = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 14_400, 28_800];

/** Every metric there is; the table in deploy/monitoring/README.md is printed from here. */
export const metrics: readonly Metric[] = [
  {
    name: 'ot.image.queue.length',
    kind: 'observableGauge',
    unit: '{image}',
    description: 'Images that wait for a slot.',
    labels: [],
  },
  {
    name: 'ot.images',
    kind: 'observableGauge',
    unit: '{image}',
    description: 'Images by phase, `Unseen` before the first; Succeeded ones are not counted, to keep a scrape cheap.',
    labels: ['phase'],
  },
  {
    name: 'ot.image.waits',
    kind: 'observableGauge',
    unit: '{image}',
    description:
      'Images on their way, by what they wait for: the policy, a slot, the next attempt, an importer, their download, a snapshot.',
    labels: ['reason'],
  },
  {
    name: 'ot.image.wait.duration',
    kind: 'observableGauge',
    unit: 's',
    description: 'The longest wait of any image, by what it waits for; 0 if none waits.',
    labels: ['reason'],
  },
  {
    name: 'ot.image.failed',
    kind: 'observableGauge',
    unit: '{image}',
    description:
      'Images that have failed finally, by the reason in their status (`Other` for a reason that is not ours).',
    labels: ['reason'],
  },
  {
    name: 'ot.slots.held',
    kind: 'observableGauge',
    unit: '{slot}',
    description: 'Sync slots held.',
    labels: [],
  },
  {
    name: 'ot.slots.free',
    kind: 'observableGauge',
    unit: '{slot}',
    description: 'Sync slots free under the policy; 0 while its concurrency does not parse.',
    labels: [],
  },
  {
    name: 'ot.slots.idle.duration',
    kind: 'observableGauge',
    unit: 's',
    description:
      'The longest time that a held slot has shown no progress, by whether its download reports any (`reported`, `unreported`); 0 if no slot is held.',
    labels: ['progress'],
  },
  {
    name: 'ot.policy.valid',
    kind: 'observableGauge',
    // Not `1`, OpenTelemetry's unit of ratios: Prometheus would call it a ratio.
    unit: '{policy}',
    description: '1 while every key of the policy parses, else 0.',
    labels: [],
  },
  {
    name: 'ot.image.queue.wait.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From the queue to a slot.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.sync.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From a slot to the end of the attempt.',
    labels: ['result'],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.sync.attempts',
    kind: 'counter',
    unit: '{attempt}',
    description: 'Attempts that ended, by result (success, failure, superseded) and the reason word of the status.',
    labels: ['result', 'reason'],
  },
  {
    name: 'ot.image.ready.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From the queue (the last time it was joined) to a usable snapshot.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.image.download.estimated',
    kind: 'counter',
    unit: 'By',
    description:
      "Bytes downloaded at most, for each attempt that started and was not refused at once: the size of its source as inspected, or that of the disk (CDI tells no better). By result, by the image's namespace (`others` beyond the policy's imageNamespaces) and by who asked (publication, VirtualMachine, Workspace, direct).",
    labels: ['result', 'image_namespace', 'requester'],
  },
  {
    name: 'ot.egress.spent',
    kind: 'observableGauge',
    unit: 'By',
    description:
      "What attempts asked of their sources in the days of the policy's egressBudget (31 without one), counted when they got their slot.",
    labels: [],
  },
  {
    name: 'ot.egress.budget',
    kind: 'observableGauge',
    unit: 'By',
    description: "The size of the policy's egressBudget; absent without one.",
    labels: [],
  },
  {
    name: 'ot.image.download.io',
    kind: 'observableCounter',
    unit: 'By',
    description: 'Bytes downloaded, exact: what the object store sent (local cluster only).',
    labels: [],
  },
  {
    name: 'ot.image.references',
    kind: 'observableGauge',
    unit: '{image}',
    description:
      'Images by how many machines use them (`0`, `1`, `2-10`, `11-100`, `101+`): a label with names would grow with the cluster.',
    labels: ['machines'],
  },
  {
    name: 'ot.image.unreferenced.duration',
    kind: 'observableGauge',
    unit: 's',
    description: 'How long the image that is unused the longest has been unused; 0 if every image is in use.',
    labels: [],
  },
  {
    name: 'ot.image.prunable',
    kind: 'observableGauge',
    unit: '{image}',
    description:
      "Images unused for the policy's pruneAfter that no user asked to keep: what prune deletes next, or would delete.",
    labels: [],
  },
  {
    name: 'ot.image.pruned',
    kind: 'counter',
    unit: '{image}',
    description:
      'Images that are gone, by rule (WhenUnreferenced, LastReference of one made for workspaces, or Deleted by hand).',
    labels: ['rule'],
  },
  {
    name: 'ot.machines',
    kind: 'observableGauge',
    unit: '{machine}',
    description: 'Machines by phase, `Unseen` before the first.',
    labels: ['phase'],
  },
  {
    name: 'ot.machine.guest.ready.duration',
    kind: 'histogram',
    unit: 's',
    description:
      'From the moment KubeVirt runs a machine to the answer of its guest, at each start; of machines with `readiness`.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.machine.ready.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From the creation of a machine to the first time it is Ready.',
    labels: [],
    buckets: longSeconds,
  },
  {
    name: 'ot.workspaces',
    kind: 'observableGauge',
    unit: '{workspace}',
    description: 'Workspaces by phase, `Unseen` before the first.',
    labels: ['phase'],
  },
  {
    name: 'ot.workspace.late',
    kind: 'observableGauge',
    unit: '{workspace}',
    description: 'Workspaces whose images are not expected before their `schedule.startAt`, or were not ready by then.',
    labels: [],
  },
  {
    name: 'ot.workspace.components',
    kind: 'observableGauge',
    unit: '{component}',
    description: 'Components of all workspaces by phase, as their statuses list them.',
    labels: ['phase'],
  },
  {
    name: 'ot.workspace.ready.duration',
    kind: 'histogram',
    unit: 's',
    description:
      'From the creation of a workspace, or its `schedule.startAt`, to the first time it is Ready: to each stage that has parts by its condition, and to the whole (`Ready`).',
    labels: ['stage'],
    buckets: longSeconds,
  },
  {
    name: 'ot.servers',
    kind: 'observableGauge',
    unit: '{machine}',
    description: 'Machines on OpenStack by phase, `Unseen` before the first.',
    labels: ['phase'],
  },
  {
    name: 'ot.openstack.call.duration',
    kind: 'histogram',
    unit: 's',
    description: 'Requests to OpenStack, by service, operation and HTTP status (`none` where no answer came).',
    labels: ['service', 'operation', 'code'],
    buckets: seconds,
  },
  {
    name: 'ot.openstack.tokens',
    kind: 'counter',
    unit: '{token}',
    description:
      'Logins at Keystone, by why: the first of a process, expired, refused by a service, or other roles since.',
    labels: ['reason'],
  },
  {
    name: 'ot.event.handling.duration',
    kind: 'histogram',
    unit: 's',
    description: 'From an event to its answer, by result (done, ignored, malformed, conflict, later).',
    labels: ['function', 'result'],
    buckets: seconds,
  },
  {
    name: 'http.server.request.duration',
    kind: 'histogram',
    unit: 's',
    description:
      "The same by OpenTelemetry's conventions, for dashboards that know no function; also of requests that are too large.",
    labels: ['http.request.method', 'http.response.status_code', 'http.route', 'url.scheme'],
    buckets: seconds,
  },
  {
    name: 'ot.events.missed',
    kind: 'counter',
    unit: '{decision}',
    description:
      'Decisions that only a timer (sweep, audit) led to and that would have been the same two ticks before: their event was lost.',
    labels: ['function', 'timer'],
  },
  {
    name: 'ot.lease.conflicts',
    kind: 'counter',
    unit: '{conflict}',
    description: 'Writes of the slot Lease that conflicted with another writer.',
    labels: ['function'],
  },
  {
    name: 'ot.write.conflicts',
    kind: 'counter',
    unit: '{conflict}',
    description: 'Writes of any other object that conflicted with another writer.',
    labels: ['function'],
  },
  {
    name: 'ot.refused.attempts',
    kind: 'counter',
    unit: '{attempt}',
    description: 'What an author or a sender asked for and may not have, by the reason in the status or Event.',
    labels: ['function', 'reason'],
  },
  {
    name: 'ot.dead.letters',
    kind: 'counter',
    unit: '{event}',
    description:
      'Events given up, by the function that did not take them (`unknown` where no Trigger has its name) and by what the event is about (object, timer, message).',
    labels: ['function', 'event'],
  },
];

/** The metric of that name in the table; throws if it has none. */
export function metricOf(name: string): Metric {
  const found = metrics.find((metric) => metric.name === name);
  if (!found)
    throw new Error(
      `expected a metric of shared/runtime/telemetry/metrics.ts, found ${name}; add it to the table first`,
    );
  return found;
}
