import * as z from 'zod';

/** One change of one object, as a watch reports it. */
export interface Change {
  type: string;
  object: object;
}

/** The states of one object, one line for each that differs from the state before. */
export interface Story {
  /** Its name in the scenario: its kind, or its part if a kind has several, and its number if several exist. */
  name: string;
  lines: string[];
}

const Reference = z.looseObject({ kind: z.string(), name: z.string(), uid: z.string().optional() });

const Seen = z.looseObject({
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    namespace: z.string().optional(),
    uid: z.string().default(''),
    labels: z.record(z.string(), z.string()).optional(),
    annotations: z.record(z.string(), z.string()).optional(),
    deletionTimestamp: z.string().optional(),
    ownerReferences: z.array(Reference).optional(),
  }),
});
type Seen = z.infer<typeof Seen>;

/** The story of each object of a scenario, in the order of creation. Names, uids, times and addresses are masked. */
export function storiesOf(changes: readonly Change[]): Story[] {
  const names = new Map<string, string>();
  const lines = new Map<string, string[]>();
  const seen = changes.map(({ type, object }) => ({ type, object: Seen.parse(object) }));
  for (const { object } of seen) {
    if (!(object.kind in shown) || names.has(object.metadata.uid)) continue;
    names.set(object.metadata.uid, numbered(partOf(object), [...names.values()]));
  }
  const mask = maskFor(seen.map(({ object }) => object));
  for (const { type, object } of seen) {
    const name = names.get(object.metadata.uid);
    if (name === undefined) continue;
    const story = lines.get(name) ?? [];
    const line = type === 'DELETED' ? 'is deleted' : mask(lineOf(object));
    if (story.at(-1) !== line) story.push(line);
    lines.set(name, story);
  }
  return [...lines].map(([name, story]) => ({ name, lines: story }));
}

/** The texts of the Events of a scenario, each once and sorted: their number and order depend on timing. */
export function eventsOf(changes: readonly Change[]): string[] {
  const mask = maskFor(changes.map(({ object }) => Seen.parse(object)));
  const parts = new Map<string, string>();
  for (const { object } of changes) {
    const { kind, metadata } = Seen.parse(object);
    if (kind !== 'Event') parts.set(`${kind}/${metadata.name}`, partOf(Seen.parse(object)));
  }
  const told = changes.flatMap(({ object }) => {
    const event = SeenEvent.safeParse(object);
    if (!event.success) return [];
    const { involvedObject: about, type, reason, message, source, reportingComponent } = event.data;
    const part = parts.get(`${about.kind}/${about.name}`);
    const from = source?.component || reportingComponent;
    return part === undefined ? [] : [mask(`${part}: ${type} ${reason} ${JSON.stringify(message)} from ${from}`)];
  });
  return [...new Set(told)].sort();
}

const SeenEvent = z.looseObject({
  kind: z.literal('Event'),
  involvedObject: Reference,
  type: z.string(),
  reason: z.string(),
  message: z.string().default(''),
  source: z.looseObject({ component: z.string().optional() }).optional(),
  reportingComponent: z.string().optional(),
});

function numbered(part: string, taken: string[]): string {
  const count = taken.filter((name) => name.replace(/ \d+$/, '') === part).length;
  return count === 0 ? part : `${part} ${count + 1}`;
}

/** Claims and Pods have several parts. */
function partOf({ kind, metadata: { name } }: Seen): string {
  if (kind === 'PersistentVolumeClaim') {
    if (name.endsWith('-scratch')) return 'scratch claim';
    if (name.startsWith('prime-')) return 'prime claim';
    return name.startsWith('tmp-pvc-') ? 'temporary claim' : 'claim';
  }
  if (kind !== 'Pod') return kind;
  return /^(importer|prep|cdi-upload)-/.exec(name)?.[1] ? `${/^[a-z]+(-upload)?/.exec(name)?.[0]} Pod` : 'other Pod';
}

const lineOf = (object: Seen) => shown[object.kind]?.(object) ?? '';

const labelsOf = ({ metadata: { labels = {} } }: Seen) =>
  Object.keys(labels)
    .sort()
    .map((key) => `${key}=${labels[key]}`)
    .join(' ');

const goingOf = ({ metadata }: Seen) => (metadata.deletionTimestamp === undefined ? '' : ' being deleted');

const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

const DataVolume = z.looseObject({
  status: z
    .looseObject({
      phase: z.string().optional(),
      claimName: z.string().optional(),
      progress: z.string().optional(),
      restartCount: z.number().optional(),
      conditions: z.array(Condition).optional(),
    })
    .optional(),
});

const State = z.looseObject({
  waiting: z.looseObject({ reason: z.string().optional(), message: z.string().optional() }).optional(),
  running: z.looseObject({}).optional(),
  terminated: z
    .looseObject({ exitCode: z.number(), reason: z.string().optional(), message: z.string().optional() })
    .optional(),
});

const Pod = z.looseObject({
  status: z
    .looseObject({
      phase: z.string().optional(),
      reason: z.string().optional(),
      containerStatuses: z
        .array(
          z.looseObject({ restartCount: z.number().optional(), state: State.optional(), lastState: State.optional() }),
        )
        .optional(),
    })
    .optional(),
});

const Claim = z.looseObject({
  spec: z.looseObject({
    volumeMode: z.string().optional(),
    resources: z
      .looseObject({ requests: z.record(z.string(), z.union([z.string(), z.number()])).optional() })
      .optional(),
  }),
  status: z
    .looseObject({ phase: z.string().optional(), capacity: z.record(z.string(), z.unknown()).optional() })
    .optional(),
});

const Snapshot = z.looseObject({
  status: z
    .looseObject({
      boundVolumeSnapshotContentName: z.string().optional(),
      readyToUse: z.boolean().optional(),
      restoreSize: z.union([z.string(), z.number()]).optional(),
      error: z.looseObject({ message: z.string().optional() }).optional(),
      creationTime: z.union([z.string(), z.number()]).optional(),
    })
    .optional(),
});

/** The compared fields of each kind. An absent field differs from an empty one. */
const shown: Record<string, (object: Seen) => string> = {
  DataVolume(object) {
    const { status = {} } = DataVolume.parse(object);
    const { phase, progress, restartCount, claimName, conditions = [] } = status;
    return [
      `${text(phase)} ${text(progress)} restarts ${text(restartCount)} claim ${claimName === undefined ? '-' : 'named'}${goingOf(object)}`,
      ...conditions.map((one) => `${one.type} ${one.status} ${text(one.reason)} ${quoted(one.message)}`),
      labelsOf(object),
    ].join(' | ');
  },
  Pod(object) {
    const { status } = Pod.parse(object);
    const container = status?.containerStatuses?.[0];
    return [
      `${text(status?.phase)}${status?.reason ? ` ${status.reason}` : ''}${goingOf(object)}`,
      `restarts ${text(container?.restartCount)}`,
      stateOf(container?.state),
      `before: ${stateOf(container?.lastState)}`,
      labelsOf(object),
    ].join(' | ');
  },
  PersistentVolumeClaim(object) {
    const { spec, status } = Claim.parse(object);
    const { requests } = spec.resources ?? {};
    return [
      `${text(status?.phase)}${goingOf(object)}`,
      `${spec.volumeMode} asks ${requests?.storage} has ${text(status?.capacity?.storage)}`,
      labelsOf(object),
    ].join(' | ');
  },
  VolumeSnapshot: snapshotLine,
  VolumeSnapshotContent: snapshotLine,
  VolumeImportSource: (object) => `is there${goingOf(object)}`,
  VolumeCloneSource: (object) => `is there${goingOf(object)}`,
};

function snapshotLine(object: Seen): string {
  const { status } = Snapshot.parse(object);
  const { boundVolumeSnapshotContentName: bound, readyToUse, restoreSize, error, creationTime } = status ?? {};
  return [
    `${bound === undefined ? 'unbound' : 'bound'}${goingOf(object)}`,
    `ready ${text(readyToUse)}`,
    `size ${text(restoreSize)}`,
    `cut ${creationTime === undefined ? '-' : 'yes'}`,
    `error ${quoted(error?.message)}`,
  ].join(' | ');
}

const text = (value: unknown) => (value === undefined ? '-' : value === '' ? '""' : String(value));
const quoted = (value: string | undefined) => (value === undefined ? '-' : JSON.stringify(value));

function stateOf(state: z.infer<typeof State> | undefined): string {
  if (state?.running) return 'running';
  if (state?.waiting) return `waiting ${text(state.waiting.reason)} ${quoted(state.waiting.message)}`;
  if (!state?.terminated) return '-';
  const { exitCode, reason, message } = state.terminated;
  return `terminated ${exitCode} ${text(reason)} ${quoted(message)}`;
}

/** Masks what differs in each run: names, uids, addresses, times, the ids of requests. */
function maskFor(objects: Seen[]): (line: string) => string {
  const named = new Set<string>();
  for (const { kind, metadata } of objects)
    if (kind === 'DataVolume' || kind === 'VolumeSnapshot') named.add(metadata.name);
  const longest = [...named].sort((a, b) => b.length - a.length);
  return (line) => {
    let masked = line;
    for (const name of longest) masked = masked.replaceAll(name, '<name>');
    return patterns.reduce((before, [pattern, mask]) => before.replace(pattern, mask), masked);
  };
}

const patterns: [RegExp, string][] = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uid>'],
  [/hostpath\.csi\.k8s\.io|ebs\.csi\.aws\.com|filesystem\.csi\.test/g, '<driver>'],
  [/(?<=driver>_vm_)<uid>/g, ''],
  [/sha256:(?!0{64})[0-9a-f]{64}/g, 'sha256:<digest>'],
  [/back-off [\w.]+ restarting/g, 'back-off <duration> restarting'],
  [/I\d{4} (?:\d\d:){2}[\d.]+ +1 importer\.go(?:[^"\\]|\\.)*/g, '<log of the importer>'],
  [/(?: on [\d.]+:53)?: (?:no such host|server misbehaving)/g, ': <not found>'],
  [/(bucket does not exist)\.?/g, '$1'],
  [/(?:localhost|quay\.io\/kubevirt)\/cdi-importer/g, 'cdi-importer'],
  [/failed to pull and unpack image (?:[^"\\]|\\.)*/g, 'failed to pull and unpack image <why>'],
  [/dial tcp [\d.]+:\d+: connect: (?:no route to host|connection refused)/g, 'dial tcp <address>: connect: <refused>'],
  [/exceeded quota: [^"]*/g, 'exceeded quota: <quota>'],
  [/request id: [^,"]*, host id: [^" ]*/g, '<ids of the request>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
];
