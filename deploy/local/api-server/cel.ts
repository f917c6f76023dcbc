import { isDeepStrictEqual } from 'node:util';
import { type Environment, Optional } from '@marcbachmann/cel-js';
import { celEnvironment } from './cel-environment.ts';
import { type CompiledRule, compileRule } from './cel-rule.ts';
import { type CelType, type CelTypes, celTypesIn } from './cel-types.ts';
import { isJsonObject } from './objects.ts';
import { type Cause, NO_FIELD } from './schema-cause.ts';
import { fieldPath, type Structural, sameKeyed, valueSchemaOf } from './schema-structural.ts';

/** Runs the rules (`x-kubernetes-validations`) of a whole schema. */
type RuleCheck = (object: unknown, oldObject: unknown) => Cause[];

/** Compiles all rules of a schema, at any depth; undefined without rules. Throws an Error with path and rule if a rule does not compile. */
export function compileRules(schema: Structural): RuleCheck | undefined {
  if (!hasRules(schema)) return undefined;
  const base = celEnvironment();
  const types = celTypesIn(base);
  // Types go in first, all of them: an environment that has been cloned takes no more.
  registerTypes(schema, types, true);
  const root = compileNode(schema, 'openAPIV3Schema', base, types, true);
  return (object, oldObject) => {
    const pair = { value: object, before: oldObject, isUnchanged: comparing(object, oldObject) };
    return checkNode(root, pair, '').map((cause) => (cause.field === '' ? { ...cause, field: NO_FIELD } : cause));
  };
}

/** A place in the schema at or below which there are rules. */
interface RuleNode {
  schema: Structural;
  type: CelType | undefined;
  rules: (CompiledRule & { isOptional: boolean })[];
  properties: Map<string, RuleNode>;
  values: RuleNode | undefined;
  items: RuleNode | undefined;
}

function hasRules(schema: Structural): boolean {
  return (schema['x-kubernetes-validations']?.length ?? 0) > 0 || childrenOf(schema).some(hasRules);
}

function childrenOf(schema: Structural): Structural[] {
  const values = valueSchemaOf(schema);
  return [
    ...Object.values(schema.properties ?? {}),
    ...(values ? [values] : []),
    ...(schema.items ? [schema.items] : []),
  ];
}

function registerTypes(schema: Structural, types: CelTypes, isResource = false) {
  if (schema['x-kubernetes-validations']?.length) types.typeOf(schema, isResource || undefined);
  for (const child of childrenOf(schema)) registerTypes(child, types);
}

function compileNode(
  schema: Structural,
  path: string,
  base: Environment,
  types: CelTypes,
  isResource = false,
): RuleNode {
  const child = (of: Structural | undefined, step: string) =>
    of && hasRules(of) ? compileNode(of, `${path}.${step}`, base, types) : undefined;
  const properties = Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const node = child(property, `properties[${name}]`);
    return node ? [[name, node] as const] : [];
  });
  const type = schema['x-kubernetes-validations']?.length ? types.typeOf(schema, isResource || undefined) : undefined;
  return {
    schema,
    type,
    rules: compileHere(schema, path, base, type),
    properties: new Map(properties),
    values: child(valueSchemaOf(schema), 'additionalProperties'),
    items: child(schema.items, 'items'),
  };
}

function compileHere(
  schema: Structural,
  path: string,
  base: Environment,
  type: CelType | undefined,
): RuleNode['rules'] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return [];
  if (!type) throw new Error(`${path}.x-kubernetes-validations: rules need a schema with a type`);
  const alone = base.clone().registerVariable('self', type.name);
  const withOld = alone.clone().registerVariable('oldSelf', type.name);
  const withOptionalOld = alone.clone().registerVariable('oldSelf', `optional<${type.name}>`);
  return rules.map((rule, index) => {
    const isOptional = rule.optionalOldSelf === true;
    try {
      const environments = { alone, withOld: isOptional ? withOptionalOld : withOld };
      return { ...compileRule(rule, schema, environments), isOptional };
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      throw new Error(`${path}.x-kubernetes-validations[${index}].${what}`, { cause: error });
    }
  });
}

/** A value beside the one it replaces; `isUnchanged` says whether it, or what it is part of, stayed as it was. */
interface Pair {
  value: unknown;
  before: unknown;
  isUnchanged: () => boolean;
}

/** Compares when it is asked, and once: all entries of a list that has no keys ask for the whole list. */
function comparing(value: unknown, before: unknown): () => boolean {
  let isEqual: boolean | undefined;
  return () => {
    isEqual ??= isDeepStrictEqual(value, before);
    return isEqual;
  };
}

function checkNode(node: RuleNode, pair: Pair, path: string): Cause[] {
  const { value } = pair;
  // Rules are for values; whether there is one is for rules further up to say.
  if (value === undefined || value === null) return [];
  return [...checkRules(node, pair, path), ...checkInside(node, pair, path)];
}

function checkRules({ rules, type }: RuleNode, { value, before, isUnchanged }: Pair, path: string): Cause[] {
  if (!type || rules.length === 0) return [];
  const hadValue = before !== undefined && before !== null;
  const isOld = rules.some(({ usesOldSelf }) => !usesOldSelf) && isUnchanged();
  const asked = rules.filter((rule) => {
    if (rule.usesOldSelf) return hadValue || rule.isOptional;
    // An old fault in what an update leaves alone is forgiven.
    return !isOld;
  });
  if (asked.length === 0) return [];
  const self = type.convert(value);
  const oldSelf = hadValue ? type.convert(before) : undefined;
  return asked.flatMap((rule) => {
    const old = rule.isOptional ? (hadValue ? Optional.of(oldSelf) : Optional.none()) : oldSelf;
    return rule.check(self, old, path) ?? [];
  });
}

function checkInside(node: RuleNode, { value, before, isUnchanged }: Pair, path: string): Cause[] {
  const inside = (child: unknown, childBefore: unknown): Pair => ({
    value: child,
    before: childBefore,
    isUnchanged: childBefore === undefined ? isUnchanged : comparing(child, childBefore),
  });
  if (Array.isArray(value)) {
    const { items } = node;
    if (!items) return [];
    return value.flatMap((item, index) =>
      checkNode(items, inside(item, sameKeyed(node.schema, before, item)), `${path}[${index}]`),
    );
  }
  if (!isJsonObject(value) || (node.properties.size === 0 && !node.values)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const pair = inside(field, isJsonObject(before) ? before[name] : undefined);
    const property = node.properties.get(name);
    if (property) return checkNode(property, pair, fieldPath(path, name));
    const isMapValue = node.values && !Object.hasOwn(node.schema.properties ?? {}, name);
    return isMapValue && node.values ? checkNode(node.values, pair, `${path}[${name}]`) : [];
  });
}
