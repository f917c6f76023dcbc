import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type ApplyRequest,
  ApplyTypeError,
  applyServerSide,
  describeConflicts,
  recordUpdate,
} from './managed-fields.ts';
import { fromFieldsV1, pathsOf, pathText, toFieldsV1 } from './managed-fields-set.ts';

const text = { type: 'string' };
const keyed = (key: string, properties: object) => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': key.split(','),
  items: { type: 'object', properties },
});
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        url: text,
        size: text,
        sub: { type: 'object', properties: { x: text, y: text } },
        map: { type: 'object', additionalProperties: text },
        atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', additionalProperties: text },
        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: text },
        plain: { type: 'array', items: text },
        disks: keyed('name', { name: text, size: text, boot: { type: 'integer' } }),
        ports: keyed('port,protocol', { port: { type: 'integer' }, protocol: { ...text, default: 'TCP' }, name: text }),
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', properties: { phase: text, conditions: keyed('type', { type: text, status: text }) } },
  },
};

interface Entry {
  manager: string;
  operation: string;
  subresource?: string;
  time?: string;
  fieldsV1: unknown;
}
interface Thing {
  metadata: { managedFields?: Entry[]; labels?: Record<string, string>; [field: string]: unknown };
  spec?: Record<string, unknown> | null;
  status?: Record<string, unknown>;
}

const head = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'a' } };
const thing = (fields: object = {}): Thing => ({
  ...head,
  ...fields,
  metadata: { ...head.metadata, ...('metadata' in fields ? (fields.metadata as object) : {}) },
});

function request(
  live: Thing | undefined,
  manager: string,
  applied: object,
  options: Partial<ApplyRequest> = {},
): ApplyRequest {
  const time = options.time ?? '2026-01-01T00:00:00Z';
  return {
    live,
    applied: thing(applied),
    manager,
    force: false,
    subresource: '',
    apiVersion: 'v1',
    time,
    schema,
    ...options,
  };
}

function apply(live: Thing | undefined, manager: string, applied: object, options: Partial<ApplyRequest> = {}): Thing {
  const { object, conflicts } = applyServerSide(request(live, manager, applied, options));
  expect(conflicts).toEqual([]);
  return object as Thing;
}

function update(before: Thing | undefined, manager: string, fields: object, options: object = {}): Thing {
  const after = structuredClone({ ...before, ...thing(fields) });
  if (before?.metadata.managedFields) after.metadata.managedFields ??= structuredClone(before.metadata.managedFields);
  recordUpdate({
    before,
    after,
    manager,
    subresource: '',
    apiVersion: 'v1',
    time: '2026-01-02T00:00:00Z',
    schema,
    ...options,
  });
  return after;
}

/** Who owns what: `{ 'a Apply': ['.spec.url'] }`. */
const owners = ({ metadata }: Thing) =>
  Object.fromEntries(
    (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => [
      `${manager} ${operation}`,
      pathsOf(fromFieldsV1(fieldsV1)).map(pathText).sort(),
    ]),
  );

type Step = [manager: string, spec?: object | undefined, force?: 'force' | undefined];
const a = (...step: [spec?: object, force?: 'force']): Step => ['a', ...step];
const b = (...step: [spec?: object, force?: 'force']): Step => ['b', ...step];
const applied = (...steps: Step[]) =>
  steps.reduce<Thing | undefined>(
    (live, [manager, spec, force]) => apply(live, manager, spec ? { spec } : {}, { force: force === 'force' }),
    undefined,
  ) as Thing;

// What an apply does to an object of the server, and who owns what then: test/proofs/contract/cases-apply.ts.
describe('server-side apply', () => {
  test.each<[fact: string, steps: Step[], spec: object | null | undefined, owned: Record<string, string[]>]>([
    [
      'leaves null, which validation then refuses, of an object that loses its last field',
      [a({ url: 'x' }), a({})],
      null,
      { 'a Apply': ['.spec'] },
    ],
    [
      'owns an atomic map whole',
      [a({ atomic: { k: '1' } }), b({ atomic: { l: '2' } }, 'force')],
      { atomic: { l: '2' } },
      { 'b Apply': ['.spec.atomic'] },
    ],
    [
      'owns a list whole by default',
      [a({ plain: ['x'] }), b({ plain: ['y'] }, 'force')],
      { plain: ['y'] },
      { 'b Apply': ['.spec.plain'] },
    ],
    [
      'merges sets, and removes fields that no manager applies any more',
      [a({ tags: ['x', 'y'] }), b({ tags: ['y', 'z'] }), a({ tags: ['z'] })],
      { tags: ['y', 'z'] },
      { 'a Apply': ['.spec.tags[="z"]'], 'b Apply': ['.spec.tags[="y"]', '.spec.tags[="z"]'] },
    ],
    [
      'tells elements apart by the defaults of their keys',
      [a({ ports: [{ port: 80 }] }), b({ ports: [{ port: 80, protocol: 'TCP', name: 'web' }] })],
      { ports: [{ port: 80, protocol: 'TCP', name: 'web' }] },
      {
        'a Apply': ['.spec.ports[port=80,protocol="TCP"]', '.spec.ports[port=80,protocol="TCP"].port'],
        'b Apply': [
          '.spec.ports[port=80,protocol="TCP"]',
          '.spec.ports[port=80,protocol="TCP"].name',
          '.spec.ports[port=80,protocol="TCP"].port',
          '.spec.ports[port=80,protocol="TCP"].protocol',
        ],
      },
    ],
    [
      'merges objects without schema, and owns lists in them whole',
      [a({ free: { o: { p: 1 }, l: [1] } }), b({ free: { o: { q: 2 } } })],
      { free: { o: { p: 1, q: 2 }, l: [1] } },
      { 'a Apply': ['.spec.free.l', '.spec.free.o', '.spec.free.o.p'], 'b Apply': ['.spec.free.o', '.spec.free.o.q'] },
    ],
  ])('%s', (_fact, steps, spec, owned) => {
    const object = applied(...steps);
    expect(object.spec).toEqual(spec);
    expect(owners(object)).toEqual(owned);
  });

  test.each([
    ['d, x, b', 'a, c, d, x, b'],
    ['y, a, z', 'y, a, b, c, d, z'],
    ['d, c, b, a', 'd, c, b, a'],
    ['x', 'a, b, c, d, x'],
  ])('of disks %s over a, b, c, d gives the order %s', (names, order) => {
    const disks = (all: string) => ({ disks: all.split(', ').map((name) => ({ name })) });
    const object = applied(a(disks('a, b, c, d')), b(disks(names)));
    expect(object.spec).toEqual(disks(order));
  });

  test('merges metadata by its own types: labels by key, finalizers as a set, ownerReferences by uid', () => {
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid });
    const first = apply(undefined, 'a', {
      metadata: { labels: { a: '1' }, finalizers: ['x/a'], ownerReferences: [owner('1')] },
    });
    const second = apply(first, 'b', {
      metadata: { labels: { b: '2' }, finalizers: ['x/b'], ownerReferences: [owner('2')] },
    });
    expect(second.metadata).toMatchObject({
      labels: { a: '1', b: '2' },
      finalizers: ['x/a', 'x/b'],
      ownerReferences: [owner('1'), owner('2')],
    });
    const { managedFields: _, ...metadata } = apply(second, 'a', {}).metadata;
    expect(metadata).toEqual({ name: 'a', labels: { b: '2' }, finalizers: ['x/b'], ownerReferences: [owner('2')] });
    const other = { metadata: { ownerReferences: [{ ...owner('2'), name: 'other' }] } };
    expect(applyServerSide(request(second, 'c', other)).conflicts).toMatchObject([
      { field: '.metadata.ownerReferences[uid="2"]' },
    ]);
  });

  test('keeps fields of the server, whichever manager owned the metadata beside them', () => {
    const live = apply(undefined, 'a', { metadata: { labels: { a: '1' } } });
    live.metadata.uid = 'u';
    live.metadata.resourceVersion = '7';
    const { managedFields: _, ...metadata } = apply(live, 'a', {}).metadata;
    expect(metadata).toEqual({ name: 'a', uid: 'u', resourceVersion: '7' });
  });

  test('without a schema merges conditions by type', () => {
    const conditions = (type: string) => ({ status: { conditions: [{ type, status: 'True' }] } });
    const first = apply(undefined, 'a', conditions('Ready'), { schema: undefined });
    const both = apply(first, 'b', conditions('Other'), { schema: undefined });
    expect(both.status).toEqual({
      conditions: [
        { type: 'Ready', status: 'True' },
        { type: 'Other', status: 'True' },
      ],
    });
  });

  test('assigns fields without a recorded owner to a manager from before', () => {
    const object = apply(thing({ spec: { url: 'x', size: '1' } }), 'a', { spec: { url: 'x' } });
    expect(owners(object)).toEqual({
      'a Apply': ['.spec.url'],
      'before-first-apply Update': ['.spec', '.spec.size', '.spec.url'],
    });
  });

  describe('a conflict', () => {
    const live = update(applied(['a', { size: '1' }]), 'kubectl', { spec: { size: '1', url: 'x' } });

    test('with the same manager does not exist', () => {
      expect(applyServerSide(request(live, 'a', { spec: { size: '2' } })).conflicts).toEqual([]);
    });

    test('names the subresource of the other', () => {
      const status = apply(live, 'f', { status: { phase: 'A' } }, { subresource: 'status' });
      const again = request(status, 'g', { status: { phase: 'B' } }, { subresource: 'status' });
      expect(describeConflicts(applyServerSide(again).conflicts)).toBe(
        'Apply failed with 1 conflict: conflict with "f" with subresource "status": .status.phase',
      );
    });
  });

  test.each([
    ['a map for a list', { spec: { disks: { a: 1 } } }, '.spec.disks: expected list'],
    ['a scalar for a map', { spec: 'x' }, '.spec: expected map'],
  ])('refuses %s', (_what, body, message) => {
    const attempt = () => applyServerSide(request(undefined, 'a', body));
    expect(attempt).toThrow(ApplyTypeError);
    expect(attempt).toThrow(`failed to create typed patch object (/a; /v1, Kind=Thing): ${message}`);
  });

  test('that changes nothing keeps the date of the one before', () => {
    const first = apply(undefined, 'a', { spec: { url: 'x' } });
    const again = apply(first, 'a', { spec: { url: 'x' } }, { time: '2027-01-01T00:00:00Z' });
    expect(again).toEqual(first);
    const changed = apply(first, 'a', { spec: { url: 'y' } }, { time: '2027-01-01T00:00:00Z' });
    expect(changed.metadata.managedFields).toMatchObject([{ time: '2027-01-01T00:00:00Z' }]);
  });
});

describe('an update', () => {
  test('takes removed fields from everyone, and entries without fields vanish', () => {
    const live = applied(['a', { url: 'x' }], ['b', { url: 'x', size: '1' }]);
    expect(owners(update(live, 'k', { spec: { size: '1' } }))).toEqual({ 'b Apply': ['.spec.size'] });
  });

  test('adds to what the same manager updated before', () => {
    const once = update(applied(['a', { url: 'x' }]), 'k', { spec: { url: 'x', size: '1' } });
    const twice = update(once, 'k', { spec: { url: 'x', size: '1', map: { k: 'v' } } });
    expect(owners(twice)['k Update']).toEqual(['.spec.map', '.spec.map.k', '.spec.size']);
  });

  test('of nothing leaves the record as it is, dates included', () => {
    const live = applied(['a', { url: 'x' }]);
    expect(update(live, 'k', { spec: { url: 'x' } }).metadata).toEqual(live.metadata);
  });

  test('keeps applies and updates of one manager apart, and those of a subresource', () => {
    const live = applied(['a', { url: 'x' }]);
    const spec = update(live, 'a', { spec: { url: 'x', size: '1' } });
    const status = update(spec, 'a', { spec: spec.spec ?? {}, status: { phase: 'A' } }, { subresource: 'status' });
    expect(status.metadata.managedFields?.map(({ operation, subresource }) => [operation, subresource])).toEqual([
      ['Apply', undefined],
      ['Update', undefined],
      ['Update', 'status'],
    ]);
  });

  test('that sends an empty record wipes it, and nothing is recorded until the next apply', () => {
    const live = update(undefined, 'k', { spec: { url: 'x' } });
    const wiped = update(live, 'k', { metadata: { managedFields: [{}] }, spec: { url: 'x' } });
    expect(wiped.metadata.managedFields).toBeUndefined();
    expect(update(wiped, 'k', { spec: { url: 'y' } }).metadata.managedFields).toBeUndefined();
    expect(Object.keys(owners(apply(wiped, 'a', { spec: { size: '1' } })))).toEqual([
      'a Apply',
      'before-first-apply Update',
    ]);
  });

  test('of the eleventh manager folds the oldest two into ancient-changes', () => {
    const live = Array.from({ length: 11 }).reduce<Thing | undefined>(
      (object, _none, index) =>
        update(
          object,
          `m${String(index).padStart(2, '0')}`,
          { spec: { map: { ...(object?.spec?.map as object), [`k${index}`]: 'v' } } },
          { time: `2026-01-01T00:00:${String(index).padStart(2, '0')}Z` },
        ),
      undefined,
    ) as Thing;
    expect(Object.keys(owners(live))).toHaveLength(10);
    expect(owners(live)['ancient-changes Update']).toEqual(['.spec', '.spec.map', '.spec.map.k0', '.spec.map.k1']);
  });
});

describe('laws of apply', () => {
  const word = fc.constantFrom('1', '2');
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
  const disk = fc
    .record({ name: fc.constantFrom('a', 'b', 'c') })
    .chain(({ name }) =>
      fc.record(
        { name: fc.constant(name), size: word, boot: fc.integer({ min: 0, max: 1 }) },
        { requiredKeys: ['name'] },
      ),
    );
  const spec = fc
    .record({
      url: optional(word),
      sub: optional(fc.record({ x: word, y: word }, { requiredKeys: [], noNullPrototype: true })),
      map: optional(fc.dictionary(fc.constantFrom('k', 'l'), word, { noNullPrototype: true })),
      // An empty set has no element that anybody could own.
      tags: optional(fc.uniqueArray(word, { minLength: 1 })),
      plain: optional(fc.array(word)),
      disks: optional(fc.uniqueArray(disk, { minLength: 1, selector: ({ name }) => name })),
    })
    .map((fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)));
  const steps = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), spec), { minLength: 1, maxLength: 5 });
  /** Applies by force, one after the other; what comes out with a null is refused. */
  const forced = (all: [string, object][]) =>
    all.reduce<Thing | undefined>((live, [manager, what]) => {
      const object = apply(live, manager, { spec: what }, { force: true });
      return live && JSON.stringify(object).includes('null') ? live : object;
    }, undefined) as Thing;

  test('the same apply again changes nothing', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const [manager, last] = ['z', all.at(-1)?.[1]];
        const object = apply(forced(all), manager, { spec: last }, { force: true });
        expect(apply(object, manager, { spec: last }, { time: '2027-01-01T00:00:00Z' })).toEqual(object);
      }),
    );
  });

  test('forcibly applied fields are set, and owned by the manager that applied them', () => {
    fc.assert(
      fc.property(steps, spec, (all, what) => {
        const object = apply(forced(all), 'z', { spec: what }, { force: true });
        const alone = applied(['z', what]);
        expect(owners(object)['z Apply']).toEqual(owners(alone)['z Apply']);
        // A merged object already holds what a second, unforced apply of the same wants.
        expect(applyServerSide(request(object, 'y', { spec: what })).conflicts).toEqual([]);
      }),
    );
  });

  test('what one manager applies and takes back leaves the others as they were', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const before = forced(all);
        const own = { metadata: { labels: { mine: 'x' } } };
        const { metadata, ...rest } = apply(apply(before, 'z', own), 'z', {});
        expect({ ...rest, metadata }).toEqual(before);
      }),
    );
  });

  test('a record written and read again says the same', () => {
    fc.assert(
      fc.property(steps, (all) => {
        for (const { fieldsV1 } of forced(all).metadata.managedFields ?? []) {
          expect(toFieldsV1(fromFieldsV1(fieldsV1))).toEqual(fieldsV1);
        }
      }),
    );
  });
});
