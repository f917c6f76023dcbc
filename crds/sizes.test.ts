import { expect, test } from 'vitest';
import { readManifests } from '../deploy/manifests.ts';
import { mostRoutes, mostUserText } from '../shared/kinds/pelotech/virtual-machine.ts';
import { mostTogether } from '../shared/kinds/pelotech/workspace.ts';

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

const hasRule = (schema: Schema, ...parts: string[]) =>
  schema['x-kubernetes-validations']?.some(({ rule }) => parts.every((part) => rule.includes(part))) ?? false;

/** What a rule limits for all fields of these paths together: the characters of texts, or the entries of lists. */
interface Together {
  of: 'texts' | 'lists';
  most: number;
  /** What of the rule is beside ` <= most`. */
  part: string;
  paths: RegExp;
}
const { users, userText, roles, interfaces, routes, containers, containerEntries, containerText } = mostTogether;
const limits: readonly Together[] = [
  { of: 'texts', most: mostUserText, part: 'u.ssh_authorized_keys', paths: /^\.users\[]\./ },
  { of: 'lists', most: mostRoutes, part: 'i.routes', paths: /^\.interfaces\[]\.routes$/ },
  { of: 'lists', most: users, part: 'size(vm.users)', paths: /^\.vms\[]\.users$/ },
  { of: 'texts', most: userText, part: 'vm.users.map', paths: /^\.vms\[]\.users\[]\./ },
  { of: 'lists', most: roles, part: 'roles.deploy', paths: /^\.vms\[]\.ansible\.roles\.(build|deploy)$/ },
  { of: 'lists', most: interfaces, part: 'one.interfaces', paths: /^\.(vms|containerClusters)\[]\.interfaces$/ },
  { of: 'lists', most: routes, part: 'network.routes', paths: /^\.networks\[]\.routes$/ },
  { of: 'lists', most: containers, part: 'cluster.containers', paths: /^\.containerClusters\[]\.containers$/ },
  {
    of: 'lists',
    most: containerEntries,
    part: 'c.capabilities.drop',
    paths: /\.containers\[]\.(env|volumeMounts|portMappings|capabilities\.(add|drop))$/,
  },
  {
    of: 'texts',
    most: containerText,
    part: 'm.containerPath',
    paths: /\.containers\[]\.(image|env\[]\.(name|value)|volumeMounts\[]\.containerPath)$/,
  },
];

/** What no rule can read, and compose-workspace limits (SpecValid). */
const variables = /^\.vms\[]\.ansible\.roles\.(build|deploy)\[]\.variables$/;

/** The most characters of a value as JSON. */
function mostOfValue(schema: Schema): number {
  const { type, format, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (schema['x-kubernetes-preserve-unknown-fields']) return Number.POSITIVE_INFINITY;
  if (schema['x-kubernetes-int-or-string'])
    return hasRule(schema, 'size(string(self)) <= 32') ? 34 : Number.POSITIVE_INFINITY;
  if (schema.enum) return Math.max(...schema.enum.map((value) => value.length + 2));
  if (type === 'boolean') return 5;
  if (type === 'integer') return 20;
  return format === 'date-time' ? 40 : 2 + maxLength;
}

/** The most characters of a spec as JSON, by the sum of all maxima. */
function mostOf(spec: Schema): number {
  /** Of what is limited together. */
  const totals = new Map<Together | RegExp, number>();
  const once = (what: Together | RegExp, size: number) => {
    totals.set(what, Math.max(totals.get(what) ?? 0, size));
    return 2;
  };
  const most = (schema: Schema, path: string, known: readonly Together[]): number => {
    const { type, items = {}, maxItems = Number.POSITIVE_INFINITY, properties } = schema;
    // A rule within a list holds for each of its entries.
    const begun = path.includes('[]') ? [] : limits.filter((limit) => hasRule(schema, limit.part, ` <= ${limit.most}`));
    const all = [...known, ...begun];
    const limit = all.find(({ of, paths }) => of === (type === 'array' ? 'lists' : 'texts') && paths.test(path));
    if (variables.test(path)) return once(variables, mostTogether.variables);
    if (properties)
      return Object.entries(properties)
        .map(([name, field]) => name.length + 4 + most(field, `${path}.${name}`, all))
        .reduce((sum, size) => sum + size, 2);
    if (type !== 'array') return limit ? once(limit, limit.most) : mostOfValue(schema);
    const one = 1 + most(items, `${path}[]`, all);
    return limit ? once(limit, limit.most * one) : 2 + maxItems * one;
  };
  return most(spec, '', []) + [...totals.values()].reduce((sum, size) => sum + size, 0);
}

const specs = (await readManifests('crds')).map((definition) => {
  const { spec } = definition as unknown as {
    spec: { names: { kind: string }; group: string; versions: { schema: { openAPIV3Schema: Schema } }[] };
  };
  const schema = spec.versions[0]?.schema.openAPIV3Schema.properties?.spec ?? {};
  return [`${spec.names.kind}.${spec.group}`, mostOf(schema)] as const;
});

/** A whole lab is one object: less than the API server stores (1.5 MB), whose own message would name no field. */
const inKi = (kind: string) => (kind === 'Workspace.pelotech.ot' ? 1280 : 64);

/** Status is written by functions only. Annotations are limited by the API server alone, to 256 KiB; lists are read in pages of bytes. */
test.each(specs.map(([kind, size]) => [kind, inKi(kind), size] as const))(
  'the spec of a %s has at most %i Ki characters: %i',
  (_, ki, size) => {
    expect(size).toBeLessThanOrEqual(ki * 1024);
  },
);

test('all kinds are looked at', () => {
  expect(specs).toHaveLength(6);
});
