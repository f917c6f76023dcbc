import { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { PersistentVolumeClaim } from '../../../shared/kinds/core/persistent-volume-claim.ts';
import { Pod } from '../../../shared/kinds/core/pod.ts';
import { VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import { imageUidLabel, VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../../shared/kinds/pelotech/workspace.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import { VolumeSnapshot } from '../../../shared/kinds/snapshot/volume-snapshot.ts';
import type { Change, History, Violation } from './history.ts';
import { leaseName, operatorNamespace, policyName } from './plain-rules.ts';
import { edit, type Policies, policiesFrom } from './policies.ts';
import { type Slots, slotsOf } from './slots-of.ts';

/** The role of an object. A download is a DataVolume with the label of an image; other DataVolumes are `other`. */
interface Kinds {
  image: VMDiskImage;
  download: DataVolume;
  snapshot: VolumeSnapshot;
  claim: PersistentVolumeClaim;
  pod: Pod;
  machine: VirtualMachine;
  workspace: Workspace;
  lease: Lease;
  policy: ConfigMap;
  other: KubernetesObject;
}

/** All objects after a change. */
export interface State {
  images: Map<string, VMDiskImage>;
  /** By the uid of the image, then by their own uid. */
  downloads: Map<string, Map<string, DataVolume>>;
  snapshots: Map<string, VolumeSnapshot>;
  claims: Map<string, PersistentVolumeClaim>;
  machines: Map<string, VirtualMachine>;
  workspaces: Map<string, Workspace>;
  /** The importer Pods, by the uid of the image. */
  pods: Map<string, Map<string, Pod>>;
  /** When a download or importer Pod was last seen unfinished, by the uid of the image. */
  lastActive: Map<string, Pick<Times, 'revision' | 'ms'>>;
  others: Map<string, KubernetesObject>;
  lease: Lease | undefined;
  /** Undefined if the Lease is missing or unreadable. */
  slots: Slots | undefined;
  policies: Policies;
  policyMap: ConfigMap | undefined;
  /** When each object was created and last changed. */
  times: Map<string, Times>;
}

interface Times {
  bornRevision: number;
  bornMs: number;
  revision: number;
  ms: number;
}

/** One change and the state after it; `before` is undefined for a new object. */
export interface Step<T extends KubernetesObject = KubernetesObject> {
  change: Change;
  revision: number;
  object: T;
  before: T | undefined;
  isGone: boolean;
  slotsBefore: Slots | undefined;
  state: State;
  history: History;
}

type Finding = string | undefined;

/** Judges one history, with a listener per kind of object. It may keep state between changes. It returns what is wrong, or undefined. */
type Judge = { [K in keyof Kinds]?: (step: Step<Kinds[K]>) => Finding } & {
  /** Every change of any kind, after the listener of its kind. */
  every?: (step: Step) => Finding;
  /** After the last change. */
  end?: () => readonly string[];
};

/** A property that every history has. */
export interface Invariant {
  number: string;
  /** The property in one sentence. */
  rule: string;
  /** Absent if the invariant compares two histories. */
  judge?: (state: State, history: History) => Judge;
}

/** Replays a history and shows each change to each invariant. */
export function follow(history: History, invariants: readonly Invariant[]): Violation[] {
  const state = stateOf(history.before);
  const violations: Violation[] = [];
  const judges = invariants.flatMap(({ number, judge }) => (judge ? [{ number, ...judge(state, history) }] : []));
  const listeners = listenersOf(judges);
  for (const change of history.changes) {
    const kind = kindOf(change.object);
    const step = apply(state, change, kind, history);
    const isJudged = !history.gaps?.some(({ after, until }) => step.revision > after && step.revision <= until);
    for (const { number, listen } of listeners[kind]) {
      const message = listen(step as never);
      if (message !== undefined && isJudged)
        violations.push({ invariant: number, revision: formatRevision(change), message });
    }
  }
  const last = history.changes.at(-1);
  for (const { number, end } of judges) {
    for (const message of end?.() ?? [])
      violations.push({ invariant: number, revision: last ? formatRevision(last) : '', message });
  }
  return violations;
}

const formatRevision = ({ object }: Change) => object.metadata.resourceVersion;

const allKinds = [
  'image',
  'download',
  'snapshot',
  'claim',
  'pod',
  'machine',
  'workspace',
  'lease',
  'policy',
  'other',
] as const;
type Kind = (typeof allKinds)[number];
type Listener = { number: string; listen: (step: never) => Finding };

function listenersOf(judges: readonly (Judge & { number: string })[]): Record<Kind, Listener[]> {
  const listeners = {} as Record<Kind, Listener[]>;
  for (const kind of allKinds) {
    const listen = (key: Kind | 'every') =>
      judges.flatMap((judge) =>
        judge[key] ? [{ number: judge.number, listen: judge[key] as Listener['listen'] }] : [],
      );
    listeners[kind] = [...listen(kind), ...listen('every')];
  }
  return listeners;
}

function kindOf({ kind, apiVersion, metadata }: KubernetesObject): Kind {
  switch (kind) {
    case VMDiskImage.kind:
      return 'image';
    case DataVolume.kind:
      return metadata.labels?.[imageUidLabel] === undefined ? 'other' : 'download';
    case VolumeSnapshot.kind:
      return 'snapshot';
    case PersistentVolumeClaim.kind:
      return 'claim';
    case Pod.kind:
      return metadata.labels?.[imageUidLabel] === undefined ? 'other' : 'pod';
    case VirtualMachine.kind:
      // KubeVirt has a kind of the same name.
      return apiVersion === VirtualMachine.apiVersion ? 'machine' : 'other';
    case Workspace.kind:
      return 'workspace';
    case Lease.kind:
      return metadata.name === leaseName && metadata.namespace === operatorNamespace ? 'lease' : 'other';
    case ConfigMap.kind:
      return metadata.name === policyName && metadata.namespace === operatorNamespace ? 'policy' : 'other';
    default:
      return 'other';
  }
}

function stateOf(before: readonly KubernetesObject[]): State {
  const state: State = {
    images: new Map(),
    downloads: new Map(),
    snapshots: new Map(),
    claims: new Map(),
    machines: new Map(),
    workspaces: new Map(),
    pods: new Map(),
    lastActive: new Map(),
    others: new Map(),
    lease: undefined,
    slots: undefined,
    policies: policiesFrom(undefined),
    policyMap: undefined,
    times: new Map(),
  };
  for (const object of before) {
    const kind = kindOf(object);
    const { uid } = object.metadata;
    if (kind === 'policy') state.policies = policiesFrom(object as ConfigMap);
    put(state, kind, object, false);
    state.times.set(uid, {
      bornRevision: 0,
      bornMs: Number.NEGATIVE_INFINITY,
      revision: 0,
      ms: Number.NEGATIVE_INFINITY,
    });
  }
  return state;
}

function apply(state: State, change: Change, kind: Kind, history: History): Step {
  const { object, type, atMs } = change;
  const { uid } = object.metadata;
  const revision = Number(object.metadata.resourceVersion);
  const isGone = type === 'DELETED';
  const slotsBefore = state.slots;
  const before = put(state, kind, object, isGone);
  if (kind === 'policy') edit(state.policies, isGone ? undefined : (object as ConfigMap), revision, atMs);
  const image = object.metadata.labels?.[imageUidLabel];
  const isWork = kind === 'download' || kind === 'pod';
  if (isWork && image && before && !hasEnded(before)) state.lastActive.set(image, { revision, ms: atMs });
  const times = state.times.get(uid);
  if (times) {
    times.revision = revision;
    times.ms = atMs;
  } else state.times.set(uid, { bornRevision: revision, bornMs: atMs, revision, ms: atMs });
  return { change, revision, object, before, isGone, slotsBefore, state, history };
}

const hasEnded = (object: KubernetesObject) => (object as DataVolume | Pod).status?.phase === 'Succeeded';

/** Stores or removes an object; returns its previous state. */
function put(state: State, kind: Kind, object: KubernetesObject, isGone: boolean): KubernetesObject | undefined {
  if (kind === 'lease') {
    const before = state.lease;
    state.lease = isGone ? undefined : (object as Lease);
    state.slots = slotsOf(state.lease);
    return before;
  }
  if (kind === 'policy') {
    const before = state.policyMap;
    state.policyMap = isGone ? undefined : (object as ConfigMap);
    return before;
  }
  const objects = placeOf(state, kind, object);
  const { uid } = object.metadata;
  const before = objects.get(uid);
  if (isGone) objects.delete(uid);
  else objects.set(uid, object);
  return before;
}

function placeOf(state: State, kind: Kind, object: KubernetesObject): Map<string, KubernetesObject> {
  if (kind === 'download') return ofImage(state.downloads, object);
  if (kind === 'pod') return ofImage(state.pods, object);
  return places[kind as keyof typeof places](state) as Map<string, KubernetesObject>;
}

const places = {
  image: ({ images }: State) => images,
  snapshot: ({ snapshots }: State) => snapshots,
  claim: ({ claims }: State) => claims,
  machine: ({ machines }: State) => machines,
  workspace: ({ workspaces }: State) => workspaces,
  other: ({ others }: State) => others,
};

function ofImage<T extends KubernetesObject>(
  all: Map<string, Map<string, T>>,
  { metadata }: KubernetesObject,
): Map<string, KubernetesObject> {
  const image = metadata.labels?.[imageUidLabel] ?? '';
  let found = all.get(image);
  if (!found) {
    found = new Map();
    all.set(image, found);
  }
  return found as Map<string, KubernetesObject>;
}
