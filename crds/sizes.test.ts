import { expect, test } from 'vitest';
import { readManifests } from '../deploy/manifests.ts';
import { mostRoutes, mostUserText } from '../shared/kinds/pelotech/virtual-machine.ts';

interface Schema {
  type?: string;
  enum?: string[];
  format?: string;
  maxLength?: number;
  maxItems?: number;
  items?: Schema;
  properties?: Record<string, Schema>;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-validations'?: { rule: string }[];
}

const hasRule = (schema: Schema, text: string) =>
  schema['x-kubernetes-validations']?.some(({ rule }) => rule.includes(text)) ?? false;

/** What a CEL rule of a list limits for all its items together is counted there, and not in its items. */
type Counted = { texts?: boolean; routes?: boolean };

/** The most characters of this field as JSON, by the sum of all maxima. */
function most(schema: Schema, counted: Counted = {}): number {
  const { type, items = {}, properties = {} } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields']) return Number.POSITIVE_INFINITY;
  if (schema['x-kubernetes-int-or-string'])
    return hasRule(schema, 'size(string(self)) <= 32') ? 34 : Number.POSITIVE_INFINITY;
  if (schema.enum) return Math.max(...schema.enum.map((value) => value.length + 2));
  if (type === 'array') {
    const all = (of: Counted) => 2 + (schema.maxItems ?? Number.POSITIVE_INFINITY) * (1 + most(items, of));
    if (hasRule(schema, `.sum() <= ${mostUserText}`)) return mostUserText + all({ texts: true });
    if (hasRule(schema, `.sum() <= ${mostRoutes}`))
      return mostRoutes * most(items.properties?.routes?.items ?? {}) + all({ routes: true });
    return all(counted);
  }
  if (type === 'object')
    return Object.entries(properties)
      .map(([name, field]) => name.length + 4 + (counted.routes && name === 'routes' ? 2 : most(field, counted)))
      .reduce((sum, size) => sum + size, 2);
  if (type === 'boolean') return 5;
  if (type === 'integer') return 20;
  if (schema.format === 'date-time') return 40;
  return 2 + (counted.texts ? 0 : (schema.maxLength ?? Number.POSITIVE_INFINITY));
}

const specs = (await readManifests('crds')).map((definition) => {
  const { spec } = definition as unknown as {
    spec: { names: { kind: string }; group: string; versions: { schema: { openAPIV3Schema: Schema } }[] };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties?.spec ?? {};
  return [`${spec.names.kind}.${spec.group}`, most(schema)] as const;
});

/** A whole lab in one object, with free variables of roles: what the API server stores, 1.5 MB, limits it. Authors need a right in the whole cluster. */
const unlimited = ['Workspace.pelotech.ot'];

/** Status is written by functions only. Annotations are limited by the API server alone, to 256 KiB; lists are read in pages of bytes. */
test.each(specs.filter(([kind]) => !unlimited.includes(kind)))(
  'the spec of a %s has at most 64 Ki characters: %i',
  (_, size) => {
    expect(size).toBeLessThanOrEqual(64 * 1024);
  },
);

test('each kind is either limited or named as unlimited', () => {
  expect(specs).toHaveLength(6);
  expect(specs.filter(([, size]) => !Number.isFinite(size)).map(([kind]) => kind)).toEqual(unlimited);
});
