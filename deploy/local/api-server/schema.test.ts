import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compileSchema, describeCauses } from './schema.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };

/** A schema whose spec has these properties. */
const withSpec = (properties: object, more: object = {}) => ({
  type: 'object',
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    spec: { type: 'object', properties, ...more },
  },
});
const object = (spec: unknown) => ({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec });

/** The causes of refusing a spec, as `field: message`. */
function faults(properties: object, spec: unknown, more: object = {}): string[] {
  const causes = compileSchema(withSpec(properties, more)).validate(object(spec));
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

// What a schema makes of an object of the server: test/proofs/contract/cases-schema.ts.
describe('validation', () => {
  test.each<[fact: string, property: object, value: unknown, messages: string[]]>([
    ['a string', text, 'x', []],
    ['a whole number for a number', { type: 'number' }, 1, []],
    ['an int32 that is too big for one, as the real server does', { ...integer, format: 'int32' }, 4e9, []],
    ['null', text, null, ['spec.f: Invalid value: "null": spec.f in body must be of type string: "null"']],
    ['null where it may be', { ...text, nullable: true, minLength: 1 }, null, []],
    [
      'null beside an enum',
      { ...text, nullable: true, enum: ['x'] },
      null,
      ['spec.f: Unsupported value: null: supported values: "x"'],
    ],
    ['null that may be, whatever else is asked', { ...text, nullable: true, not: { minLength: 0 } }, null, []],
    ['a pattern in Go’s syntax', { ...text, pattern: '(?i)^[[:alpha:]\\-]+\\z' }, 'A-b', []],
    ['a string of wide characters by their number', { ...text, maxLength: 2 }, '💾💾', []],
    [
      'a number that is too small',
      { ...integer, minimum: 2 },
      1,
      ['spec.f: Invalid value: 1: spec.f in body should be greater than or equal to 2'],
    ],
    [
      'too few items',
      { type: 'array', items: text, minItems: 1 },
      [],
      ['spec.f: Invalid value: 0: spec.f in body should have at least 1 items'],
    ],
    [
      'too many properties',
      { type: 'object', additionalProperties: text, maxProperties: 1 },
      { a: '', b: '' },
      ['spec.f: Too many: 2: must have at most 1 item'],
    ],
    [
      'too few properties',
      { type: 'object', additionalProperties: text, minProperties: 1 },
      {},
      ['spec.f: Invalid value: 0: spec.f in body should have at least 1 properties'],
    ],
    [
      'a fault in a list',
      { type: 'array', items: integer },
      [1, 'x'],
      ['spec.f[1]: Invalid value: "string": spec.f[1] in body must be of type integer: "string"'],
    ],
    [
      'a number for a time',
      { ...text, format: 'date-time' },
      5,
      ['spec.f: Invalid value: "int64": spec.f in body must be of type date-time: "int64"'],
    ],
    [
      'a repeated key of a keyed list',
      {
        type: 'array',
        items: { type: 'object', properties: { k: text, j: text } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'j'],
      },
      [
        { k: 'x', j: 'y' },
        { j: 'y', k: 'x' },
      ],
      ['spec.f[1]: Duplicate value: {"j":"y","k":"x"}'],
    ],
    [
      'a whole object without kind',
      { type: 'object', 'x-kubernetes-embedded-resource': true },
      { apiVersion: 'v1' },
      ['spec.f.kind: Required value'],
    ],
    [
      'what is forbidden',
      { ...text, not: { enum: ['bad'] } },
      'bad',
      ['<nil>: Invalid value: "": "spec.f" must not validate the schema (not)'],
    ],
    [
      'none of some, with the error of the closest alternative',
      {
        type: 'object',
        properties: { p: text, q: integer },
        anyOf: [{ required: ['p'] }, { properties: { q: { minimum: 5 } } }],
      },
      { q: 3 },
      [
        'spec.f.q: Invalid value: 3: spec.f.q in body should be greater than or equal to 5',
        '<nil>: Invalid value: "": "spec.f" must validate at least one schema (anyOf)',
      ],
    ],
    [
      'two of one',
      { type: 'object', properties: { p: text, q: text }, oneOf: [{ required: ['p'] }, { required: ['q'] }] },
      { p: '', q: '' },
      ['<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found 2 valid alternatives'],
    ],
    [
      'none of one, saying why of the first',
      { type: 'object', properties: { p: text, q: text }, oneOf: [{ required: ['p'] }, { required: ['q'] }] },
      {},
      [
        'spec.f.p: Required value',
        '<nil>: Invalid value: "": "spec.f" must validate one and only one schema (oneOf). Found none valid',
      ],
    ],
    [
      'not all of all',
      { ...integer, allOf: [{ minimum: 3 }, { multipleOf: 2 }] },
      5,
      [
        'spec.f: Invalid value: 5: spec.f in body should be a multiple of 2',
        '<nil>: Invalid value: "": "spec.f" must validate all the schemas (allOf)',
      ],
    ],
  ])('of %s', (_fact, property, value, messages) => {
    expect(faults({ f: property }, { f: value })).toEqual(messages);
  });

  test.each([
    ['date-time', ['2026-01-01T00:00:00Z', '2026-01-01t00:00:00.123456+01:00'], ['2026-02-30T00:00:00Z', '2026-01-01']],
    ['date', ['2026-01-31'], ['2026-01-32', '26-1-1']],
    ['duration', ['1h30m', '22 ns', '0'], ['soon', '']],
    ['uri', ['https://a/b', '/a', 's3://b/k'], ['a/b', 'https://a b']],
    ['hostname', ['a.example.com', 'localhost'], ['a_b', '-a']],
    ['ipv4', ['10.0.0.1'], ['::1', '10.0.0.256']],
    ['ipv6', ['::1'], ['10.0.0.1']],
    ['cidr', ['10.0.0.0/8', 'fd00::/64'], ['10.0.0.0', '10.0.0.0/33']],
    ['mac', ['02:00:00:00:00:01'], ['02:00:00:00:00']],
    ['uuid', ['123e4567-e89b-12d3-a456-426614174000'], ['123']],
    ['byte', ['aGVsbG8='], ['a']],
    ['email', ['a@b.c'], ['a']],
  ])('of the format %s takes %s and refuses %s', (format, good, bad) => {
    const { validate } = compileSchema(withSpec({ f: { ...text, format } }));
    expect(good.flatMap((f) => validate(object({ f })))).toEqual([]);
    expect(bad.filter((f) => validate(object({ f })).length === 0)).toEqual([]);
  });

  test('says all causes at once, in the words of an answer', () => {
    const { validate } = compileSchema(withSpec({ url: text }, { required: ['url', 'diskSize'] }));
    expect(validate(object({ url: 3 }))).toEqual([
      { field: 'spec.diskSize', reason: 'FieldValueRequired', message: 'Required value' },
      {
        field: 'spec.url',
        reason: 'FieldValueTypeInvalid',
        message: 'Invalid value: "integer": spec.url in body must be of type string: "integer"',
      },
    ]);
    expect(describeCauses(validate(object({ url: '' })))).toBe('spec.diskSize: Required value');
    expect(describeCauses(validate(object({ url: 3 })))).toBe(
      '[spec.diskSize: Required value, spec.url: Invalid value: "integer": spec.url in body must be of type string: "integer"]',
    );
  });

  test('takes a well-formed object in well under a millisecond', () => {
    const { validate } = compileSchema(withSpec({ url: { ...text, pattern: '^https://' }, n: integer }));
    const small = object({ url: 'https://a', n: 1 });
    validate(small);
    const start = performance.now();
    for (let i = 0; i < 1000; i++) validate(small);
    expect((performance.now() - start) / 1000).toBeLessThan(0.3);
  });
});

describe('validation of an update', () => {
  const disks = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items: { type: 'object', properties: { name: text, size: { ...text, minLength: 2 } } },
  };
  const { validate } = compileSchema(
    withSpec({
      url: { ...text, pattern: '^https://' },
      disks,
      plain: { type: 'array', items: { maxLength: 1, ...text } },
    }),
  );

  test.each([
    ['forgives a fault it leaves alone', { url: 'x' }, { url: 'x', plain: ['a'] }, []],
    ['refuses another fault in the same field', { url: 'x' }, { url: 'y' }, ['spec.url']],
    [
      'follows the elements of a keyed list',
      { disks: [{ name: 'a', size: '1' }] },
      {
        disks: [
          { name: 'b', size: '1' },
          { name: 'a', size: '1' },
        ],
      },
      ['spec.disks[0].size'],
    ],
    ['does not follow those of a list that is one whole', { plain: ['aa'] }, { plain: ['aa', 'b'] }, ['spec.plain[0]']],
    ['forgives a list that is one whole and the same', { plain: ['aa'] }, { plain: ['aa'], url: 'https://' }, []],
    [
      'forgives repeated keys that were there',
      { disks: [{ name: 'a' }, { name: 'a' }] },
      { disks: [{ name: 'a' }, { name: 'a' }], url: 'https://' },
      [],
    ],
  ])('%s', (_fact, before, after, fields) => {
    expect(validate(object(after), object(before)).map(({ field }) => field)).toEqual(fields);
  });
});

describe('pruning', () => {
  const properties = {
    a: text,
    list: { type: 'array', items: { type: 'object', properties: { k: text } } },
    map: { type: 'object', additionalProperties: { type: 'object', properties: { k: text } } },
    any: { type: 'object', additionalProperties: true },
    open: {
      type: 'object',
      'x-kubernetes-preserve-unknown-fields': true,
      properties: { inner: { type: 'object', properties: { k: text } } },
    },
    whole: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: { type: 'object' } } },
  };

  test.each<[fact: string, spec: object, kept: object, dropped: string[]]>([
    ['looks into maps', { map: { q: { k: '', x: 1 } } }, { map: { q: { k: '' } } }, ['spec.map.q.x']],
    [
      'empties objects of which nothing is known',
      { any: { q: { x: 1 }, r: 1 } },
      { any: { q: {}, r: 1 } },
      ['spec.any.q.x'],
    ],
    [
      'keeps unknown fields if the schema allows them, except known fields within them',
      { open: { other: { x: 1 }, inner: { k: '', x: 1 } } },
      { open: { other: { x: 1 }, inner: { k: '' } } },
      ['spec.open.inner.x'],
    ],
    [
      'keeps what every whole object has',
      { whole: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: {}, x: 1 } },
      { whole: { apiVersion: 'v1', kind: 'X', metadata: { name: 'x' }, spec: {} } },
      ['spec.whole.x'],
    ],
    ['drops a null that may not be', { a: null }, {}, []],
  ])('%s', (_fact, spec, kept, dropped) => {
    const pruned = object(structuredClone(spec));
    expect(compileSchema(withSpec(properties)).prune(pruned)).toEqual(dropped);
    expect(pruned).toEqual(object(kept));
  });

  test('of the root keeps apiVersion, kind and metadata even if the schema is empty', () => {
    const pruned = { ...object({ a: 1 }), metadata: { name: 'a', labels: { x: 'y' } } };
    expect(compileSchema({ type: 'object' }).prune(pruned)).toEqual(['spec']);
    expect(pruned).toEqual({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a', labels: { x: 'y' } } });
  });

  test('again finds nothing more', () => {
    const { prune } = compileSchema(withSpec(properties));
    fc.assert(
      fc.property(fc.jsonValue(), (spec) => {
        const pruned = object(spec);
        prune(pruned);
        const once = structuredClone(pruned);
        expect(prune(pruned)).toEqual([]);
        expect(pruned).toEqual(once);
      }),
    );
  });
});

describe('defaults', () => {
  const properties = {
    mode: { ...text, default: 'x' },
    sub: { type: 'object', default: {}, properties: { n: { ...integer, default: 3 } } },
    bare: { type: 'object', properties: { n: { ...integer, default: 3 } } },
    nullable: { ...text, nullable: true, default: 'q' },
    list: { type: 'array', items: { type: 'object', properties: { c: { ...text, default: 'z' } } } },
    map: { type: 'object', additionalProperties: { ...text, default: 'd' } },
  };
  const all = { mode: 'x', sub: { n: 3 }, nullable: 'q' };

  test.each<[fact: string, spec: object, expected: object]>([
    ['fill what is absent, and what they bring, but make no object to have a place', {}, all],
    ['are set in existing objects', { bare: {} }, { ...all, bare: { n: 3 } }],
    ['replace nulls in maps', { map: { k: null } }, { ...all, map: { k: 'd' } }],
  ])('%s', (_fact, spec, expected) => {
    const filled = object(structuredClone(spec));
    compileSchema(withSpec(properties)).applyDefaults(filled);
    expect(filled).toEqual(object(expected));
  });

  test('are copies: a change of one object does not affect the next', () => {
    const { applyDefaults } = compileSchema(withSpec(properties));
    const first = object({}) as { spec: { sub?: { n: number } } };
    applyDefaults(first);
    Object.assign(first.spec.sub ?? {}, { n: 9 });
    const second = object({});
    applyDefaults(second);
    expect(second).toEqual(object(all));
  });
});
