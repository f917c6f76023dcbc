import { Ajv, type ValidateFunction } from 'ajv';
import { compileRules } from './cel.ts';
import { isJsonObject } from './objects.ts';
import { type Cause, describeCauses, invalid, NO_FIELD } from './schema-cause.ts';
import { applyDefaults } from './schema-defaults.ts';
import { findIncomplete } from './schema-embedded.ts';
import { causeOf, failuresOf } from './schema-errors.ts';
import { formats } from './schema-formats.ts';
import { toJsonSchema } from './schema-json.ts';
import { findRepeated } from './schema-lists.ts';
import { prune } from './schema-prune.ts';
import { isUnchanged } from './schema-ratchet.ts';
import { goRegExp } from './schema-regexp.ts';
import type { Structural } from './schema-structural.ts';

export { type Cause, describeCauses };

/** What the API server does to objects of one version of a CustomResourceDefinition. */
export interface CompiledSchema {
  /** Drops, in place, fields the schema does not know; returns their paths (`spec.bogus`). */
  prune(object: unknown): string[];
  /** Fills in, in place, the defaults of absent fields. */
  applyDefaults(object: unknown): void;
  /** Why the object is refused; with `oldObject` as an update, which forgives old faults in what it leaves alone. */
  validate(object: unknown, oldObject?: unknown): Cause[];
}

/** Schemas by their text: compiling is what starting a server costs most, and its result depends on nothing else. */
const compiledBefore = new Map<string, CompiledSchema>();

/** Compiles the `openAPIV3Schema` of a CustomResourceDefinition; throws an Error naming path and rule for a rule that does not compile. */
export function compileSchema(openAPIV3Schema: unknown): CompiledSchema {
  const schema: Structural = isJsonObject(openAPIV3Schema) ? openAPIV3Schema : {};
  const text = JSON.stringify(schema);
  const compiled = compiledBefore.get(text) ?? compileAnew(schema);
  compiledBefore.set(text, compiled);
  return compiled;
}

function compileAnew(schema: Structural): CompiledSchema {
  const checkRules = compileRules(schema);
  // ajv takes a quarter of a second for KubeVirt's machines; a process that never validates one should not wait for it.
  let compiled: ValidateFunction | undefined;
  const check = (object: unknown, oldObject: unknown) => {
    compiled ??= compile(schema);
    if (compiled(object)) return [];
    return failuresOf(compiled.errors ?? [], schema, object)
      .filter(({ path }) => oldObject === undefined || !isUnchanged(schema, object, oldObject, path))
      .map(causeOf);
  };
  return {
    prune: (object) => (isJsonObject(object) ? prune(schema, object) : []),
    applyDefaults: (object) => applyDefaults(schema, object),
    validate: (object, oldObject) => {
      const causes = [...check(object, oldObject), ...findIncomplete(schema, object)];
      if (oldObject === undefined || findRepeated(schema, oldObject).length === 0) {
        causes.push(...findRepeated(schema, object));
      }
      if (!checkRules) return causes;
      return causes.some(isBlocking) ? [...causes, UNCHECKED] : [...causes, ...checkRules(object, oldObject)];
    },
  };
}

/** Rules may rely on types, so that none runs while the object has not even those right. */
const isBlocking = ({ reason }: Cause) => BLOCKING.has(reason);

const BLOCKING = new Set<Cause['reason']>([
  'FieldValueNotSupported',
  'FieldValueRequired',
  'FieldValueTooLong',
  'FieldValueTooMany',
  'FieldValueTypeInvalid',
]);

const UNCHECKED = invalid(
  NO_FIELD,
  null,
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
);

function compile(schema: Structural): ValidateFunction {
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
    messages: false,
    inlineRefs: false,
    formats,
    code: { optimize: false, regExp: Object.assign(goRegExp, { code: 'goRegExp' }) },
  });
  return ajv.compile(toJsonSchema(schema));
}
