import * as fc from 'fast-check';
import { machineNamespace } from './cluster.ts';
import {
  downloadFaults,
  type Fault,
  imageChildren,
  leaseEdits,
  machineChildren,
  machineFaults,
  type Operation,
  type Plan,
  type Signer,
  snapshotFaults,
  sourceAnswers,
  takenNames,
} from './plan.ts';

/** How large runs are: how many operations and faults at most, and how many choices may be placed exactly. */
export interface Size {
  operations: number;
  faults: number;
  overtakings: number;
}

export const usual: Size = { operations: 8, faults: 5, overtakings: 6 };
/** Large enough for a mistake to show. What finds one here must report nothing without one. */
export const roomy: Size = { operations: 12, faults: 8, overtakings: 6 };

const image = fc.constantFrom('a', 'b', 'c', 'd');
const machine = fc.constantFrom('m', 'n');
const workspace = fc.constantFrom('w');
/** A namespace whose network a machine names: its own, or another. */
const joins = fc.constantFrom(machineNamespace, 'default');
const signedBy = fc.constantFrom<Signer>('publisher', 'stranger');
const seconds = fc.oneof(
  { weight: 3, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.constantFrom(1, 5, 40, 130) },
);
const of = <D extends Operation['do']>(does: D) => ({ seconds, do: fc.constant(does) });

/** Good values and garbage, as users type them. */
const policies = fc.constantFrom<readonly [string, string]>(
  ['concurrency', '0'],
  ['concurrency', '1'],
  ['concurrency', '3'],
  ['concurrency', '-1'],
  ['concurrency', ''],
  ['concurrency', '4x'],
  ['concurrency', '1e9'],
  ['slotsPerNamespace', '1'],
  ['retryLimit', '0'],
  ['retryLimit', 'many'],
  ['retryBackoffDuration', '1s'],
  ['allowedSources', 'https://other.example.com/**'],
  ['allowedSources', '*'],
  ['prune', 'WhenUnreferenced'],
  ['prune', 'WhenUnreferenced'],
  ['prune', 'DryRun'],
  ['prune', 'yes'],
  ['pruneAfter', '1s'],
  ['workspaceImagesKeptFor', '30s'],
  ['egressBudget', '100Mi/1d'],
  ['imageNamespaces', 'elsewhere'],
  ['machineNetworks', 'default'],
  ['unsignedPublications', 'Refuse'],
  ['retainSourceVolume', 'true'],
);

/** Each operation, its frequency, and its values. */
const operationOf: Record<
  Exclude<Operation['do'], 'replaceSource'>,
  { weight: number; arbitrary: fc.Arbitrary<Operation> }
> = {
  createImage: { weight: 6, arbitrary: fc.record({ ...of('createImage'), image }) },
  deleteImage: { weight: 4, arbitrary: fc.record({ ...of('deleteImage'), image }) },
  createMachine: {
    weight: 6,
    arbitrary: fc.record(
      { ...of('createMachine'), machine, image, hasTemplate: fc.boolean(), joins },
      { requiredKeys: ['seconds', 'do', 'machine', 'image', 'hasTemplate'] },
    ),
  },
  deleteMachine: { weight: 3, arbitrary: fc.record({ ...of('deleteMachine'), machine }) },
  changeMachine: { weight: 1, arbitrary: fc.record({ ...of('changeMachine'), machine }) },
  requestSync: { weight: 2, arbitrary: fc.record({ ...of('requestSync'), image }) },
  changeUrl: { weight: 2, arbitrary: fc.record({ ...of('changeUrl'), image }) },
  keep: { weight: 1, arbitrary: fc.record({ ...of('keep'), image }) },
  loseSnapshot: { weight: 1, arbitrary: fc.record({ ...of('loseSnapshot'), image }) },
  policy: {
    weight: 3,
    arbitrary: fc
      .tuple(seconds, policies)
      .map(([wait, [key, value]]) => ({ seconds: wait, do: 'policy', key, value }) as const),
  },
  lease: { weight: 2, arbitrary: fc.record({ ...of('lease'), how: fc.constantFrom(...leaseEdits) }) },
  wipeStatus: { weight: 1, arbitrary: fc.record({ ...of('wipeStatus'), image }) },
  garbleStatus: { weight: 1, arbitrary: fc.record({ ...of('garbleStatus'), image }) },
  deletePolicy: { weight: 1, arbitrary: fc.record(of('deletePolicy')) },
  deleteStorageClass: { weight: 1, arbitrary: fc.record(of('deleteStorageClass')) },
  deleteSnapshotClass: { weight: 1, arbitrary: fc.record(of('deleteSnapshotClass')) },
  takeName: {
    weight: 2,
    arbitrary: fc.record({
      ...of('takeName'),
      image,
      of: fc.constantFrom(...takenNames),
    }),
  },
  deleteForeground: { weight: 2, arbitrary: fc.record({ ...of('deleteForeground'), image }) },
  deleteOrphan: { weight: 1, arbitrary: fc.record({ ...of('deleteOrphan'), image }) },
  unknownPhase: { weight: 1, arbitrary: fc.record({ ...of('unknownPhase'), image }) },
  dropFinalizers: { weight: 1, arbitrary: fc.record({ ...of('dropFinalizers'), image }) },
  forceDelete: { weight: 1, arbitrary: fc.record({ ...of('forceDelete'), image }) },
  restoreImage: {
    weight: 2,
    arbitrary: fc.record({ ...of('restoreImage'), image, hasStatus: fc.boolean(), hasChildren: fc.boolean() }),
  },
  adopt: { weight: 2, arbitrary: fc.record({ ...of('adopt'), image }) },
  unadopt: { weight: 1, arbitrary: fc.record({ ...of('unadopt'), image }) },
  useRevision: {
    weight: 1,
    arbitrary: fc.record({ ...of('useRevision'), image, revision: fc.integer({ min: 1, max: 3 }) }),
  },
  deleteChild: {
    weight: 3,
    arbitrary: fc.record({ ...of('deleteChild'), image, of: fc.constantFrom(...imageChildren) }),
  },
  deleteMachineChild: {
    weight: 2,
    arbitrary: fc.record({ ...of('deleteMachineChild'), machine, of: fc.constantFrom(...machineChildren) }),
  },
  createWorkspace: {
    weight: 2,
    arbitrary: fc.record({ ...of('createWorkspace'), workspace, image, hasTemplate: fc.boolean(), runs: fc.boolean() }),
  },
  deleteWorkspace: { weight: 1, arbitrary: fc.record({ ...of('deleteWorkspace'), workspace }) },
  publish: {
    weight: 2,
    arbitrary: fc.record(
      { ...of('publish'), image, digest: fc.constantFrom('sha256:1', 'sha256:2'), signedBy },
      { requiredKeys: ['seconds', 'do', 'image', 'digest'] },
    ),
  },
};

export const operationKinds = [...Object.keys(operationOf), 'replaceSource'] as Operation['do'][];

const operation: fc.Arbitrary<Operation> = fc.oneof(...Object.values(operationOf));

const write = fc.nat(80);
const request = fc.nat(400);
const event = fc.nat(150);
const few = fc.integer({ min: 1, max: 8 });
const delay = fc.constantFrom(1, 5, 35, 130);
const functionName = fc.constantFrom(
  'start-sync',
  'start-sync',
  'follow-sync',
  'prune',
  'count-refs',
  'ensure-vmdi',
  'provision-vm',
);

/** Each kind of fault, and its values. */
const faultOf: Record<Fault['kind'], fc.Arbitrary<Fault>> = {
  crashBefore: fc.record({ kind: fc.constant('crashBefore'), at: write }),
  crashAfter: fc.record({ kind: fc.constant('crashAfter'), at: write }),
  answerLost: fc.record({ kind: fc.constant('answerLost'), at: write }),
  conflicts: fc.record({ kind: fc.constant('conflicts'), at: write, count: few }),
  busy: fc.record({ kind: fc.constant('busy'), at: request, count: few }),
  away: fc.record({ kind: fc.constant('away'), at: request, count: fc.constantFrom(1, 20, 100) }),
  forbidden: fc.record({ kind: fc.constant('forbidden'), at: write }),
  invalid: fc.record({ kind: fc.constant('invalid'), at: write }),
  slow: fc.record({ kind: fc.constant('slow'), at: request, seconds: delay }),
  answerLate: fc.record({ kind: fc.constant('answerLate'), at: request, seconds: delay }),
  staleRead: fc.record({
    kind: fc.constant('staleRead'),
    at: request,
    count: fc.constantFrom(1, 5, 40),
    back: fc.constantFrom(1, 3, 10, 40),
  }),
  watchLate: fc.record({ kind: fc.constant('watchLate'), at: fc.nat(40), seconds: fc.constantFrom(1, 10, 130) }),
  snapshotRefused: fc.record({ kind: fc.constant('snapshotRefused'), at: fc.nat(2), count: fc.constantFrom(1, 1, 3) }),
  listExpired: fc.record({ kind: fc.constant('listExpired'), at: fc.nat(20) }),
  eventDropped: fc.record({ kind: fc.constant('eventDropped'), at: event, count: fc.constantFrom(1, 3, 30, 1000) }),
  eventDoubled: fc.record({ kind: fc.constant('eventDoubled'), at: event, seconds: fc.constantFrom(0, 5, 130) }),
  eventDelayed: fc.record({ kind: fc.constant('eventDelayed'), at: event, seconds: delay }),
  brokerOutage: fc.record({
    kind: fc.constant('brokerOutage'),
    at: event,
    seconds: fc.constantFrom(1, 10, 600),
    loses: fc.boolean(),
  }),
  skew: fc.record({ kind: fc.constant('skew'), function: functionName, seconds: fc.constantFrom(-10, 10) }),
  clockJump: fc.record({
    kind: fc.constant('clockJump'),
    function: functionName,
    at: request,
    seconds: fc.constantFrom(-60, -5, 5, 60),
  }),
  replicas: fc.record({
    kind: fc.constant('replicas'),
    function: functionName,
    count: fc.constantFrom(2, 3),
  }),
  download: fc.record({
    kind: fc.constant('download'),
    at: fc.nat(5),
    count: fc.constantFrom(1, 1, 2, 6),
    how: fc.constantFrom(...downloadFaults),
  }),
  snapshot: fc.record({ kind: fc.constant('snapshot'), at: fc.nat(3), how: fc.constantFrom(...snapshotFaults) }),
  machine: fc.record({ kind: fc.constant('machine'), at: fc.nat(2), how: fc.constantFrom(...machineFaults) }),
};

/** Kinds with several variants. */
const weights: Partial<Record<Fault['kind'], number>> = { download: 8, snapshot: 3, machine: 6, replicas: 2 };

export const faultKinds = Object.keys(faultOf) as Fault['kind'][];

/** Runs of that size. Each has only some kinds of faults, so that no kind always hides another. */
export function plans(size: Size = usual): fc.Arbitrary<Plan> {
  const most = Math.ceil(faultKinds.length / 2);
  const faults = fc.subarray(faultKinds, { minLength: 1, maxLength: most }).chain((kinds) =>
    fc.array<Fault>(fc.oneof(...kinds.map((kind) => ({ weight: weights[kind] ?? 1, arbitrary: faultOf[kind] }))), {
      maxLength: size.faults,
      size: 'max',
    }),
  );
  const fields = {
    operations: fc
      .tuple(
        fc.record({ seconds: fc.constant(0), do: fc.constant('createImage' as const), image }),
        fc.array(operation, { maxLength: size.operations - 1, size: 'max' }),
      )
      .map(([first, rest]) => [first, ...rest]),
    faults,
    order: fc.record({ seed: fc.nat(), share: fc.constantFrom(0, 0.1, 0.5, 1) }),
    overtakings: fc.array(fc.record({ at: fc.nat(1500), by: fc.integer({ min: 1, max: 20 }) }), {
      maxLength: size.overtakings,
    }),
    troubleSeconds: fc.constantFrom(0, 10, 60, 200),
    isDeaf: fc.oneof({ weight: 19, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    seed: fc.nat(),
    // The last, so that what the others are does not hang on it. Inspections keep images from meeting at the slots: few runs have them.
    sources: fc.oneof(
      { weight: 6, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.array(fc.constantFrom(...sourceAnswers), { maxLength: 6 }) },
      // Images of one content meet.
      { weight: 1, arbitrary: fc.array(fc.constantFrom('golden', 'golden', 'silver'), { minLength: 4, maxLength: 8 }) },
    ),
    /** Of these few, the sources of some are replaced, and looked at again. */
    replaced: fc.oneof(
      { weight: 7, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.array(replacement, { maxLength: 3 }) },
    ),
  };
  return fc
    .record(fields)
    .map(({ replaced, ...plan }) =>
      replaced ? { ...plan, sources: plan.sources ?? [], refreshes: true, operations: withAll(plan, replaced) } : plan,
    );
}

interface Replacement {
  place: number;
  operation: Operation;
}

const replacement: fc.Arbitrary<Replacement> = fc.record({
  place: fc.nat(11),
  operation: fc.record({ ...of('replaceSource'), image }),
});

/** The operations with each of the others after the operation of its place. */
const withAll = ({ operations }: Pick<Plan, 'operations'>, others: readonly Replacement[]): readonly Operation[] =>
  operations.flatMap((one, index) => [
    one,
    ...others.filter(({ place }) => place % operations.length === index).map(({ operation }) => operation),
  ]);
