import * as fc from 'fast-check';

/** The openAPIV3Schema of a CustomResourceDefinition, as far as values are made from it. */
export interface Schema {
  type?: string;
  format?: string;
  enum?: unknown[];
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: { rule: string }[];
}

/** Values of a field in place of those that its schema alone allows: what a rule over several fields asks for, or a reference that hits. */
export type Hint = (path: string, schema: Schema, usual: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown> | undefined;

/** What readers of YAML, shells, templates, terminals and JavaScript take for something else than text. */
const nasty = [
  ...['', ' ', 'no', 'on', 'yes', 'null', '~', '=', '<<', '1e3', '0o7', '0123', '12:30:45', '2026-01-01', '.inf', '-'],
  ...[
    '{{ 7*7 }}',
    '{% raw %}',
    '$(HOME)',
    '$' + '{HOME}',
    '`id`',
    '%s',
    '!unsafe x',
    '!!python/object:os.system',
    '&a',
    '*a',
  ],
  ...['a\nb: c', 'a\r\n- b', 'a: b', '# a', '"', "'", "''", '\\', '\t', 'a\n\nruncmd: [id]\n', '---\na: b', '...\n'],
  ...['\u0000', '\u0007', '\u001b[31m', '\u007f', '\u0085', '\u00a0', '\u2028', '\u202e', '\u200b', '\ufeff', '\uffff'],
  ...['\ud800', '\udc00x', 'x\ud83d', '👩‍👩‍👧', 'שלום', 'ﷺ', 'ß', 'İ', 'Ǆ'],
  ...[
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'length',
    'then',
    'toJSON',
    'default',
    'root',
    '../..',
    '/',
    '.',
  ],
  ...['tenant-own', 'victim', 'vmdi-farm', 'golden', 'secret', 'ws-victim-lab', 'sync-operator'],
];

const fitting = (schema: Schema) => (text: unknown) =>
  typeof text === 'string' &&
  [...text].length <= (schema.maxLength ?? 4096) &&
  [...text].length >= (schema.minLength ?? 0) &&
  (schema.pattern === undefined || new RegExp(schema.pattern, 'u').test(text));

/** Ends where a pattern ends for Go, which the API server is written in, too. */
const matching = (pattern: string) => fc.stringMatching(new RegExp(pattern));

function text(schema: Schema): fc.Arbitrary<string> {
  const { minLength = 0, maxLength = 4096, pattern } = schema;
  const fits = fitting(schema);
  const known = nasty.filter(fits);
  const longest = fc.constantFrom('x', '"', '\n', 'é', '😀', '{', '\\').map((unit) => unit.repeat(maxLength));
  const size = { minLength, maxLength: Math.max(minLength, Math.min(maxLength, 64)) };
  const free = [
    { arbitrary: fc.string({ ...size, unit: 'grapheme' }), weight: 2 },
    { arbitrary: fc.string({ ...size, unit: 'binary' }).filter(fits), weight: 2 },
    ...(maxLength <= 4096 ? [{ arbitrary: longest.filter(fits), weight: 1 }] : []),
  ];
  return fc.oneof(
    ...(known.length > 0 ? [{ arbitrary: fc.constantFrom(...known), weight: 6 }] : []),
    ...(pattern === undefined ? free : [{ arbitrary: matching(pattern).filter(fits), weight: 4 }]),
  );
}

const ipv4 = fc.oneof(
  fc.tuple(fc.constantFrom(0, 1, 2, 255), fc.nat(3)).map(([a, b]) => `10.10.${b}.${a}`),
  fc.ipV4(),
);
const address = fc.oneof(
  { arbitrary: ipv4, weight: 4 },
  { arbitrary: fc.ipV6().filter((ip) => !ip.includes('.')), weight: 1 },
);
const cidr = fc.oneof(
  {
    arbitrary: fc.tuple(ipv4, fc.constantFrom(1, 8, 16, 24, 24, 24, 30, 31, 32)).map(([ip, bits]) => `${ip}/${bits}`),
    weight: 5,
  },
  {
    arbitrary: fc
      .tuple(
        fc.ipV6().filter((ip) => !ip.includes('.')),
        fc.constantFrom(1, 64, 128),
      )
      .map(([ip, bits]) => `${ip}/${bits}`),
    weight: 1,
  },
);
const quantity = fc.constantFrom(
  '1Mi',
  '1048576',
  '1Gi',
  '1.5Gi',
  '24Gi',
  '1T',
  '7E',
  '7Ei',
  '1000000000000',
  '2048k',
  '1.000000001Gi',
);

const rulesOf = (schema: Schema) => (schema['x-kubernetes-validations'] ?? []).map(({ rule }) => rule).join('\n');

/** What the rules of a field itself ask for. */
function byRules(schema: Schema): fc.Arbitrary<string> | undefined {
  const rules = rulesOf(schema);
  if (rules.includes('isCIDR(self)')) return cidr;
  if (rules.includes('isIP(self)')) return address;
  if (/quantity\(self\)\.compareTo/.test(rules)) return quantity;
  return undefined;
}

const dates = fc.constantFrom('2026-01-01T00:00:00Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z');

const number = ({ minimum = -(2 ** 53) + 1, maximum = 2 ** 53 - 1, format }: Schema) => {
  const most = format === 'int32' ? Math.min(maximum, 2 ** 31 - 1) : maximum;
  const least = format === 'int32' ? Math.max(minimum, -(2 ** 31)) : minimum;
  const borders = [least, least + 1, most, most - 1, 0, 1, 443, 2 ** 31].filter((one) => one >= least && one <= most);
  return fc.oneof(fc.constantFrom(...borders), fc.integer({ min: least, max: most }));
};

/** What a reader has to expect in a free-form field, `__proto__` as a key of its own included. */
const key = fc.constantFrom('a', ...nasty.filter((one) => one !== ''));
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.constantFrom(...nasty), fc.constantFrom(0, -0, 1e-7, 1e21, 2 ** 53), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).value;
const freeForm = fc.array(fc.tuple(key, anything), { maxLength: 4 }).map((entries) => Object.fromEntries(entries));

const unique = ({ 'x-kubernetes-list-type': type, 'x-kubernetes-list-map-keys': keys = [] }: Schema) =>
  type === 'map'
    ? (item: unknown) => JSON.stringify(keys.map((name) => (item as Record<string, unknown>)?.[name]))
    : (item: unknown) => JSON.stringify(item);

function list(schema: Schema, item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown[]> {
  const { minItems = 0, maxItems = 4 } = schema;
  const few = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, 3)) };
  if (schema['x-kubernetes-list-type'] !== undefined) return fc.uniqueArray(item, { ...few, selector: unique(schema) });
  // All that fit: the same over and over but for the first few.
  const full = fc
    .array(item, { minLength: 1, maxLength: 3 })
    .map((some) => Array.from({ length: Math.min(maxItems, 64) }, (_, index) => some[index % some.length]));
  return fc.oneof({ arbitrary: fc.array(item, few), weight: 14 }, { arbitrary: full, weight: 1 });
}

/** Values that the schema allows, the strange ones among them more often than not. */
export function arbitraryOf(schema: Schema, hint: Hint = () => undefined, path = ''): fc.Arbitrary<unknown> {
  const usual = usualOf(schema, hint, path);
  return hint(path, schema, usual) ?? usual;
}

function usualOf(schema: Schema, hint: Hint, path: string): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema['x-kubernetes-int-or-string']) return fc.oneof(quantity, fc.integer({ min: 2 ** 20, max: 2 ** 40 }));
  switch (schema.type) {
    case 'string':
      return byRules(schema) ?? (schema.format === 'date-time' ? dates : text(schema));
    case 'integer':
    case 'number':
      return number(schema);
    case 'boolean':
      return fc.boolean();
    case 'array':
      return list(schema, arbitraryOf(schema.items ?? {}, hint, `${path}[]`));
    case 'object':
      return objectOf(schema, hint, path);
    default:
      return anything;
  }
}

function objectOf(schema: Schema, hint: Hint, path: string): fc.Arbitrary<unknown> {
  const { properties, required = [], additionalProperties } = schema;
  if (!properties && typeof additionalProperties === 'object')
    return fc
      .array(fc.tuple(key, arbitraryOf(additionalProperties, hint, `${path}{}`)), { maxLength: 3 })
      .map((entries) => Object.fromEntries(entries));
  if (!properties) return freeForm;
  const fields = Object.entries(properties).map(([name, inner]) => {
    const value = arbitraryOf(inner, hint, `${path}.${name}`);
    return [name, required.includes(name) ? value : fc.option(value, { nil: undefined, freq: 2 })] as const;
  });
  return fc
    .record(Object.fromEntries(fields))
    .map((found) => Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined)));
}

/** The paths of all fields of a schema, `[]` for the items of a list. */
export function fieldsOf(schema: Schema, path = ''): string[] {
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, one]) => [
    `${path}.${name}`,
    ...fieldsOf(one, `${path}.${name}`),
  ]);
  return [...inner, ...(schema.items ? fieldsOf(schema.items, `${path}[]`) : [])];
}

export function pathsIn(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [`${path}.${name}`, ...pathsIn(inner, `${path}.${name}`)]);
}
