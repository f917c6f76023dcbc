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

/** Good values and garbage, as users type them. */
const policies = fc
  .constantFrom<readonly [string, string]>(
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
  )
  .map(([key, value]) => ({ key, value }));

/** The one of several types whose tag may be this name. */
type Named<All, Tag extends string, Name> =
  All extends Record<Tag, infer Names> ? (Name extends Names ? All : never) : never;
type ValuesOf<T> = { [Field in keyof T]: fc.Arbitrary<NonNullable<T[Field]>> };
type OperationValues<Name> = ValuesOf<Omit<Named<Operation, 'do', Name>, 'do' | 'seconds'>>;

/** Each operation: its frequency, the values of its fields, and of those that it may lack. */
const operationOf: {
  [Name in Exclude<Operation['do'], 'replaceSource'>]: readonly [
    weight: number,
    values: OperationValues<Name> | typeof policies,
    mayLack?: Partial<OperationValues<Name>>,
  ];
} = {
  createImage: [6, { image }],
  deleteImage: [4, { image }],
  createMachine: [6, { machine, image, hasTemplate: fc.boolean() }, { joins }],
  deleteMachine: [3, { machine }],
  changeMachine: [1, { machine }],
  requestSync: [2, { image }],
  changeUrl: [2, { image }],
  keep: [1, { image }],
  loseSnapshot: [1, { image }],
  policy: [3, policies],
  lease: [2, { how: fc.constantFrom(...leaseEdits) }],
  wipeStatus: [1, { image }],
  garbleStatus: [1, { image }],
  deletePolicy: [1, {}],
  deleteStorageClass: [1, {}],
  deleteSnapshotClass: [1, {}],
  takeName: [2, { image, of: fc.constantFrom(...takenNames) }],
  deleteForeground: [2, { image }],
  deleteOrphan: [1, { image }],
  unknownPhase: [1, { image }],
  dropFinalizers: [1, { image }],
  forceDelete: [1, { image }],
  restoreImage: [2, { image, hasStatus: fc.boolean(), hasChildren: fc.boolean() }],
  adopt: [2, { image }],
  unadopt: [1, { image }],
  useRevision: [1, { image, revision: fc.integer({ min: 1, max: 3 }) }],
  deleteChild: [3, { image, of: fc.constantFrom(...imageChildren) }],
  deleteMachineChild: [2, { machine, of: fc.constantFrom(...machineChildren) }],
  createWorkspace: [2, { workspace, image, hasTemplate: fc.boolean(), runs: fc.boolean() }],
  deleteWorkspace: [1, { workspace }],
  publish: [2, { image, digest: fc.constantFrom('sha256:1', 'sha256:2') }, { signedBy }],
};

export const operationKinds = [...Object.keys(operationOf), 'replaceSource'] as Operation['do'][];

const operation = fc.oneof(
  ...Object.entries(operationOf).map(([name, [weight, values, mayLack]]) => {
    const fields = { ...values, ...mayLack } as Record<string, fc.Arbitrary<unknown>>;
    const own = values instanceof fc.Arbitrary ? values : fc.record(fields, { requiredKeys: Object.keys(values) });
    const arbitrary = fc.tuple(seconds, own).map(([wait, more]) => ({ seconds: wait, do: name, ...more }) as Operation);
    return { weight, arbitrary };
  }),
);

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

/** Each kind of fault: the values of its fields. */
const faultOf: { [Kind in Fault['kind']]: ValuesOf<Omit<Named<Fault, 'kind', Kind>, 'kind'>> } = {
  crashBefore: { at: write },
  crashAfter: { at: write },
  answerLost: { at: write },
  conflicts: { at: write, count: few },
  busy: { at: request, count: few },
  away: { at: request, count: fc.constantFrom(1, 20, 100) },
  forbidden: { at: write },
  invalid: { at: write },
  slow: { at: request, seconds: delay },
  answerLate: { at: request, seconds: delay },
  staleRead: { at: request, count: fc.constantFrom(1, 5, 40), back: fc.constantFrom(1, 3, 10, 40) },
  watchLate: { at: fc.nat(40), seconds: fc.constantFrom(1, 10, 130) },
  snapshotRefused: { at: fc.nat(2), count: fc.constantFrom(1, 1, 3) },
  listExpired: { at: fc.nat(20) },
  eventDropped: { at: event, count: fc.constantFrom(1, 3, 30, 1000) },
  eventDoubled: { at: event, seconds: fc.constantFrom(0, 5, 130) },
  eventDelayed: { at: event, seconds: delay },
  brokerOutage: { at: event, seconds: fc.constantFrom(1, 10, 600), loses: fc.boolean() },
  skew: { function: functionName, seconds: fc.constantFrom(-10, 10) },
  clockJump: { function: functionName, at: request, seconds: fc.constantFrom(-60, -5, 5, 60) },
  replicas: { function: functionName, count: fc.constantFrom(2, 3) },
  download: { at: fc.nat(5), count: fc.constantFrom(1, 1, 2, 6), how: fc.constantFrom(...downloadFaults) },
  snapshot: { at: fc.nat(3), how: fc.constantFrom(...snapshotFaults) },
  machine: { at: fc.nat(2), how: fc.constantFrom(...machineFaults) },
};

/** Kinds with several variants. */
const weights: Partial<Record<Fault['kind'], number>> = { download: 8, snapshot: 3, machine: 6, replicas: 2 };

const faultsOf = (kind: Fault['kind']) =>
  fc.record(faultOf[kind] as Record<string, fc.Arbitrary<unknown>>).map((fields) => ({ kind, ...fields }) as Fault);

export const faultKinds = Object.keys(faultOf) as Fault['kind'][];

/** Runs of that size. Each has only some kinds of faults, so that no kind always hides another. */
export function plans(size: Size = usual): fc.Arbitrary<Plan> {
  const most = Math.ceil(faultKinds.length / 2);
  const faults = fc.subarray(faultKinds, { minLength: 1, maxLength: most }).chain((kinds) =>
    fc.array(fc.oneof(...kinds.map((kind) => ({ weight: weights[kind] ?? 1, arbitrary: faultsOf(kind) }))), {
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
  operation: fc.record({ seconds, do: fc.constant('replaceSource' as const), image }),
});

/** The operations with each of the others after the operation of its place. */
const withAll = ({ operations }: Pick<Plan, 'operations'>, others: readonly Replacement[]): readonly Operation[] =>
  operations.flatMap((one, index) => [
    one,
    ...others.filter(({ place }) => place % operations.length === index).map(({ operation }) => operation),
  ]);
