import { describe, expect, test } from 'vitest';
import { compileSchema } from './schema.ts';

const text = { type: 'string' };
const integer = { type: 'integer' };
const list = (items: object) => ({ type: 'array', items });
const map = (values: object) => ({ type: 'object', additionalProperties: values });
const rules = (...all: (string | object)[]) => ({
  'x-kubernetes-validations': all.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

const schemaOf = (properties: object, more: object = {}) => ({
  type: 'object',
  properties: { spec: { type: 'object', properties, ...more } },
});
const object = (spec: unknown) => ({ apiVersion: 'x/v1', kind: 'X', metadata: { name: 'a' }, spec });

function faults(schema: object, spec: unknown, before?: unknown): string[] {
  const causes = compileSchema(schema).validate(object(spec), before === undefined ? undefined : object(before));
  return causes.map(({ field, message }) => `${field}: ${message}`);
}

const properties = {
  s: text,
  t: text,
  i: integer,
  d: { type: 'number' },
  b: { type: 'boolean' },
  ss: list(text),
  ii: list(integer),
  os: list({ type: 'object', properties: { n: text, v: integer } }),
  m: map(integer),
  o: { type: 'object', properties: { k: text, p: { type: 'object', properties: { k: text } } } },
  when: { ...text, format: 'date-time' },
  for: { ...text, format: 'duration' },
  ios: { 'x-kubernetes-int-or-string': true },
  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  nullable: { ...text, nullable: true },
  'a-b': text,
  namespace: text,
  'x.y/z': text,
};

type Spec = Record<string, unknown>;
const rows = (table: [rule: string, holds: Spec[], fails: Spec[]][]) =>
  test.each(table)('%s', (rule, holds, fails) => {
    const { validate } = compileSchema(schemaOf(properties, rules(rule)));
    expect(holds.flatMap((spec) => validate(object(spec)))).toEqual([]);
    for (const spec of fails) expect(validate(object(spec))).toMatchObject([{ field: 'spec' }]);
  });

describe('a rule reads fields:', () => {
  rows([
    ['self.i <= size(self.s)', [{ i: 1, s: 'ab' }], [{ i: 3, s: 'ab' }, { s: 'ab' }]],
    ['has(self.s) != has(self.t)', [{ s: '' }, { t: '' }], [{}, { s: '', t: '' }]],
    ['has(self.o.p) && self.o.p.k == self.o.k', [{ o: { k: 'a', p: { k: 'a' } } }], [{ o: { k: 'a' } }, {}]],
    ['!has(self.nullable)', [{ nullable: null }, {}], [{ nullable: 'x' }]],
    ['self.?o.?k.orValue("d") == "d"', [{}, { o: {} }], [{ o: { k: 'x' } }]],
    ['self.a__dash__b == self.__namespace__', [{ 'a-b': 'x', namespace: 'x' }], [{ 'a-b': 'x', namespace: 'y' }]],
    ['self.x__dot__y__slash__z == "1"', [{ 'x.y/z': '1' }], [{ 'x.y/z': '2' }]],
    [
      'type(self.ios) == int ? self.ios > 0 : self.ios.endsWith("%")',
      [{ ios: 5 }, { ios: '5%' }],
      [{ ios: 0 }, { ios: 'x' }],
    ],
    ['self.d < 1.5 && self.d > self.i', [{ d: 1, i: 0 }], [{ d: 2, i: 0 }]],
    [
      'self.when > timestamp("2020-01-01T00:00:00Z")',
      [{ when: '2026-01-01T00:00:00Z' }],
      [{ when: '2019-01-01T00:00:00Z' }],
    ],
    ['self.__for__ > duration("1s")', [{ for: '1m' }, { for: '5 s' }], [{ for: '100ms' }]],
    ['has(self.free)', [{ free: { any: 1 } }], [{}]],
    ['self.b || self.o.k == "x"', [{ b: true }, { b: false, o: { k: 'x' } }], [{ b: false, o: { k: 'y' } }]],
  ]);
});

describe('a rule reads strings:', () => {
  rows([
    ['self.s.startsWith("x") && self.s.endsWith("z") && self.s.contains("y")', [{ s: 'xyz' }], [{ s: 'xz' }]],
    ['self.s.matches("^[a-z]+$")', [{ s: 'abc' }], [{ s: 'a1' }]],
    ['self.s.split("/").size() == 2 && self.s.split("/")[0] == "a"', [{ s: 'a/b' }], [{ s: 'a' }, { s: 'b/c' }]],
    ['self.s.lowerAscii() == "abc" && self.s.upperAscii() == "ABC"', [{ s: 'aBc' }], [{ s: 'ab' }]],
    ['self.s.find("[0-9]+") == "12"', [{ s: 'a12b3' }], [{ s: 'a1' }]],
    ['self.s.matches("(?i)^[[:alpha:]]+\\\\z")', [{ s: 'aBc' }], [{ s: 'a1' }]],
    ['self.s.indexOf("b") == 1 && self.s.substring(1) == "b"', [{ s: 'ab' }], [{ s: 'ac' }]],
    ['self.s.trim() == "a" && self.s != "a"', [{ s: ' a ' }], [{ s: 'a' }]],
  ]);
});

describe('a rule reads lists and maps:', () => {
  rows([
    ['self.ss.all(x, x.startsWith("a"))', [{ ss: [] }, { ss: ['a', 'ab'] }], [{ ss: ['a', 'b'] }]],
    [
      'self.ss.exists(x, x == "a") && self.ss.exists_one(x, x == "b")',
      [{ ss: ['a', 'a', 'b'] }],
      [{ ss: ['a', 'b', 'b'] }],
    ],
    ['self.ii.map(x, x * 2).sum() == 6 && self.ii.filter(x, x > 1) == [2]', [{ ii: [1, 2] }], [{ ii: [1, 3] }]],
    ['self.s in self.ss', [{ s: 'a', ss: ['a'] }], [{ s: 'b', ss: ['a'] }]],
    ['self.ss.join("-") == "a-b"', [{ ss: ['a', 'b'] }], [{ ss: ['a'] }]],
    [
      'self.os.all(x, self.os.exists_one(y, y.n == x.n))',
      [{ os: [{ n: 'a' }, { n: 'b' }] }],
      [{ os: [{ n: 'a' }, { n: 'a' }] }],
    ],
    [
      'self.m.all(k, k.startsWith("a") && self.m[k] > 0) && "a1" in self.m',
      [{ m: { a1: 1 } }],
      [{ m: { a1: 0 } }, { m: {} }],
    ],
  ]);
});

describe('a rule reads quantities:', () => {
  rows([
    ['quantity(self.s).isGreaterThan(quantity("1G"))', [{ s: '1Gi' }], [{ s: '1k' }, { s: 'x' }]],
    ['quantity(self.s).isLessThan(quantity("1.5"))', [{ s: '1499m' }], [{ s: '1.5' }]],
    ['quantity(self.s).compareTo(quantity("1024Mi")) == 0', [{ s: '1Gi' }, { s: '1073741824' }], [{ s: '1G' }]],
    ['quantity(self.s) == quantity("1000m")', [{ s: '1' }, { s: '1e0' }], [{ s: '2' }]],
  ]);

  test.each([
    ['1', true],
    ['1.5Gi', true],
    ['.5', true],
    ['+1e-3', true],
    ['-1n', true],
    ['Mi', true],
    ['', false],
    ['1K', false],
    ['1 Gi', false],
    ['1,3', false],
    ['0x1', false],
    ['1e', false],
  ])("'%s' as a quantity: %s", (s, expected) => {
    expect(faults(schemaOf(properties, rules('isQuantity(self.s)')), { s })).toHaveLength(expected ? 0 : 1);
  });
});

describe('a rule reads addresses:', () => {
  rows([
    ['isIP(self.s)', [{ s: '10.0.0.1' }, { s: '::1' }], [{ s: 'x' }, { s: '::ffff:10.0.0.1' }]],
    ['ip(self.s).isLoopback()', [{ s: '127.0.0.2' }, { s: '::1' }], [{ s: '10.0.0.1' }, { s: '::2' }]],
    ['ip(self.s).isUnspecified()', [{ s: '0.0.0.0' }, { s: '::' }], [{ s: '0.0.0.1' }, { s: '::1' }]],
    [
      'isCIDR(self.s) && cidr(self.s).containsIP("10.1.2.3")',
      [{ s: '10.0.0.0/8' }],
      [{ s: '10.0.0.0/24' }, { s: '10.0.0.0' }],
    ],
    [
      'cidr(self.s).prefixLength() == 64 && cidr("fd00::/16").containsIP(cidr(self.s).ip())',
      [{ s: 'fd00::1/64' }],
      [{ s: 'fd00::1/65' }, { s: 'fe00::/64' }],
    ],
  ]);
});

describe('a broken rule', () => {
  const broken = (rule: object) => faults(schemaOf(properties, rules({ rule: 'self.i > 1', ...rule })), { i: 1 });

  test.each([
    ['says the rule', {}, 'spec: Invalid value: "object": failed rule: self.i > 1'],
    [
      'says its message where the expression fails',
      { messageExpression: 'self.s', message: 'm' },
      'spec: Invalid value: "object": m',
    ],
    ['points to a quoted fieldPath', { fieldPath: "['a-b']", message: 'm' }, 'spec.a-b: Invalid value: "object": m'],
    ['points into a map', { fieldPath: '.m.x', message: 'm' }, 'spec.m[x]: Invalid value: "object": m'],
    ['is required', { reason: 'FieldValueRequired', message: 'm' }, 'spec: Required value: m'],
    ['is a duplicate', { reason: 'FieldValueDuplicate', message: 'm' }, 'spec: Duplicate value: "object"'],
    [
      'says why it could not be judged',
      { rule: '10 / (self.i - 1) > 1' },
      'spec: Invalid value: "object": division by zero evaluating rule: 10 / (self.i - 1) > 1',
    ],
    [
      'says which field it missed',
      { rule: 'self.s == ""' },
      'spec: Invalid value: "object": no such key: s evaluating rule: self.s == ""',
    ],
    [
      'says which element it missed',
      { rule: '[1][self.i] == 1' },
      'spec: Invalid value: "object": index out of bounds: 1 evaluating rule: [1][self.i] == 1',
    ],
  ])('%s', (_fact, rule, expected) => {
    expect(broken(rule)).toEqual([expected]);
  });

  test('is found at any depth: in fields, elements, values of maps, and at the root', () => {
    const schema = {
      ...schemaOf({
        s: { ...text, ...rules('self != "bad"') },
        ii: list({ ...integer, ...rules('self > 0') }),
        m: map({ type: 'object', properties: { k: text }, ...rules('self.k != "bad"') }),
      }),
      ...rules('self.metadata.name != "a"', 'self.kind == "X"'),
    };
    expect(faults(schema, { s: 'bad', ii: [1, 0], m: { x: { k: 'bad' } } })).toEqual([
      '<nil>: Invalid value: "object": failed rule: self.metadata.name != "a"',
      'spec.s: Invalid value: "string": failed rule: self != "bad"',
      'spec.ii[1]: Invalid value: "integer": failed rule: self > 0',
      'spec.m[x]: Invalid value: "object": failed rule: self.k != "bad"',
    ]);
  });

  test('is not checked while the object has wrong types, which the error reports', () => {
    const schema = schemaOf({ i: integer, e: { ...text, enum: ['x'] } }, rules('self.i > 1'));
    expect(faults(schema, { i: 0, e: 'y' })).toEqual([
      'spec.e: Unsupported value: "y": supported values: "x"',
      '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
    ]);
  });
});

describe('on an update a rule', () => {
  const keyed = {
    ...list({ type: 'object', properties: { k: text, v: integer }, ...rules('self.v >= oldSelf.v') }),
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
  };
  const schema = schemaOf(
    {
      url: { ...text, ...rules({ rule: 'self == oldSelf', message: 'is immutable' }) },
      size: {
        ...integer,
        ...rules(
          { rule: '!oldSelf.hasValue() || self >= oldSelf.value()', optionalOldSelf: true, message: 'only grows' },
          { rule: 'oldSelf.hasValue() || self < 10', optionalOldSelf: true, message: 'starts small' },
        ),
      },
      keyed,
      set: { ...list(text), ...rules('self == oldSelf'), 'x-kubernetes-list-type': 'set' },
      plainSet: { ...list(text), ...rules('self == oldSelf') },
      plain: list({ ...integer, ...rules('self == oldSelf') }),
      o: { type: 'object', properties: { k: text }, ...rules({ rule: 'self == oldSelf', message: 'stays' }) },
      odd: { ...integer, ...rules({ rule: 'self % 2 == 1', message: 'is odd' }) },
    },
    rules({ rule: '!has(oldSelf.url) || has(self.url)', message: 'url stays' }),
  );

  test.each<[fact: string, before: Spec | undefined, after: Spec, messages: string[]]>([
    ['with oldSelf is not asked of a new object', undefined, { url: 'x' }, []],
    ['with oldSelf compares objects', { o: { k: 'a' } }, { o: { k: 'b' } }, ['spec.o: stays']],
    ['with oldSelf takes objects that are the same', { o: { k: 'a' } }, { o: { k: 'a' } }, []],
    ['sees a removed field one step up', { url: 'x' }, {}, ['spec: url stays']],
    ['with optionalOldSelf is asked of a new value', undefined, { size: 20 }, ['spec.size: starts small']],
    ['with optionalOldSelf compares too', { size: 9 }, { size: 8 }, ['spec.size: only grows']],
    [
      'follows the elements of keyed lists',
      {
        keyed: [
          { k: 'a', v: 1 },
          { k: 'b', v: 2 },
        ],
      },
      {
        keyed: [
          { k: 'b', v: 1 },
          { k: 'a', v: 1 },
        ],
      },
      ['spec.keyed[0]: failed rule: self.v >= oldSelf.v'],
    ],
    ['has no old value of an element of another list', { plain: [1] }, { plain: [2] }, []],
    ['forgives an old fault it leaves alone', { odd: 2 }, { odd: 2, url: 'x' }, []],
    ['does not forgive a new fault', { odd: 2 }, { odd: 4 }, ['spec.odd: is odd']],
  ])('%s', (_fact, before, after, messages) => {
    expect(faults(schema, after, before).map((line) => line.replace(/Invalid value: "\w+": /, ''))).toEqual(messages);
  });
});

describe('a rule that does not compile is refused with path and rule:', () => {
  test.each([
    [
      'an unknown field',
      { rule: 'self.bogus > 1' },
      'rule: Invalid value: "self.bogus > 1": compilation failed: No such key: bogus',
    ],
    ['an unknown field inside has', { rule: 'has(self.o.bogus)' }, 'compilation failed: No such key: bogus'],
    ['a field of what is not described', { rule: 'has(self.free.any)' }, 'compilation failed: No such key: any'],
    ['no truth value', { rule: 'self.i + 1' }, 'cel expression must evaluate to a bool'],
    ['half a rule', { rule: 'self.i >' }, 'compilation failed: Unexpected token'],
    ['types that do not compare', { rule: 'self.i == "x"' }, 'no such overload: int == string'],
    [
      'types that do not compare inside a macro',
      { rule: 'self.ii.all(x, x.startsWith("a"))' },
      'found no matching overload',
    ],
    ['an unknown function', { rule: 'nope(self.i)' }, "found no matching overload for 'nope(int)'"],
    ['an unknown variable', { rule: 'spec.i > 1' }, 'Unknown variable: spec'],
    ['a broken regular expression', { rule: 'self.s.matches("(")' }, 'invalid matches argument'],
    ['a broken duration', { rule: 'duration("x") > duration("1s")' }, 'invalid duration argument'],
    ['a list of many types', { rule: 'self.s in ["a", 1]' }, "expected type 'string' but found 'int'"],
    ['what Kubernetes does not know', { rule: 'cel.bind(n, self.i, n > 0)' }, "undeclared reference to 'cel'"],
    [
      'a message that is no text',
      { rule: 'true', messageExpression: 'self.i' },
      'messageExpression: Invalid value: "self.i": messageExpression must evaluate to a string',
    ],
    [
      'a path to nowhere',
      { rule: 'true', fieldPath: '.bogus' },
      'fieldPath: Invalid value: ".bogus": must be a valid path',
    ],
  ])('%s', (_what, rule, message) => {
    const compile = () => compileSchema(schemaOf(properties, rules('true', rule)));
    expect(compile).toThrow('openAPIV3Schema.properties[spec].x-kubernetes-validations[1].');
    expect(compile).toThrow(message);
  });
});
