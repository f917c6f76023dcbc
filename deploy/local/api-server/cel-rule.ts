import type { Environment } from '@marcbachmann/cel-js';
import { explained, firstLine, type Program } from './cel-dynamic.ts';
import { faultOf, withGoRegExps } from './cel-lint.ts';
import { type Cause, duplicate, forbidden, invalid, required } from './schema-cause.ts';
import { fieldPath, fieldSchemaOf, type Structural, type ValidationRule } from './schema-structural.ts';

/** One rule of `x-kubernetes-validations`, compiled. */
export interface CompiledRule {
  /** Whether the rule compares with the value before an update. */
  usesOldSelf: boolean;
  /** Why the value at `path` is refused, if it is; `oldSelf` is undefined where there was none. */
  check(self: unknown, oldSelf: unknown, path: string): Cause | undefined;
}

interface Environments {
  /** Knows `self`. */
  alone: Environment;
  /** Knows `oldSelf` too, as an optional where the rule wants one. */
  withOld: Environment;
}

/** Compiles a rule of this schema; throws an Error that begins with the part of the rule that is wrong. */
export function compileRule(rule: ValidationRule, schema: Structural, environments: Environments): CompiledRule {
  const usesOldSelf = !environments.alone.check(rule.rule).valid;
  const holds = compile(usesOldSelf ? environments.withOld : environments.alone, rule, 'rule');
  const explain = rule.messageExpression ? compile(environments.withOld, rule, 'messageExpression') : undefined;
  const fieldOf = fieldNamer(rule, schema);
  const type = schema.type ?? '';
  const check = (self: unknown, oldSelf: unknown, path: string) => {
    const result = attempt(() => holds({ self, oldSelf }));
    if (result === true) return undefined;
    if (result !== false) return invalid(path, type, `${result} evaluating rule: ${textOf(rule)}`);
    return worded(rule, fieldOf(path), type, explained(explain, { self, oldSelf }) || defaultMessage(rule));
  };
  return { usesOldSelf, check };
}

const EXPECTED = {
  rule: { type: 'bool', mismatch: 'cel expression must evaluate to a bool' },
  messageExpression: { type: 'string', mismatch: 'messageExpression must evaluate to a string' },
};

function compile(environment: Environment, rule: ValidationRule, part: 'rule' | 'messageExpression'): Program {
  const source = rule[part] ?? '';
  const refuse = (detail: string) => {
    throw new Error(`${part}: Invalid value: ${JSON.stringify(source)}: ${detail}`);
  };
  const { type, valid, error } = environment.check(source);
  if (!valid) refuse(`compilation failed: ${firstLine(error)}`);
  if (type !== EXPECTED[part].type && type !== 'dyn') refuse(EXPECTED[part].mismatch);
  const fault = faultOf(environment, source);
  if (fault) refuse(`compilation failed: ${fault}`);
  return environment.parse(withGoRegExps(environment, source));
}

/** The rule's verdict, or the text of the error that kept it from one. */
function attempt(evaluate: () => unknown): unknown {
  try {
    return evaluate();
  } catch (error) {
    return inGoWords(firstLine(error));
  }
}

function inGoWords(summary: string): string {
  const [, index] = /index out of bounds, index (-?\d+)/.exec(summary) ?? [];
  return index === undefined ? summary.replace(/^No such key/, 'no such key') : `index out of bounds: ${index}`;
}

const textOf = (rule: ValidationRule) => (rule.message || rule.rule).trim();

const defaultMessage = (rule: ValidationRule) => rule.message?.trim() || `failed rule: ${rule.rule.trim()}`;

/** Resolves `fieldPath` (`.spec.disks['a.b']`) against the schema that the rule stands in. */
function fieldNamer(rule: ValidationRule, schema: Structural): (path: string) => string {
  const steps = [...(rule.fieldPath ?? '').matchAll(/\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\]|(.)/gs)];
  const suffixes: ((path: string) => string)[] = [];
  let here: Structural | undefined = schema;
  for (const [, plain, quoted] of steps) {
    const name: string = plain ?? quoted?.replaceAll(/\\(.)/g, '$1') ?? '';
    suffixes.push(here?.properties ? (path) => fieldPath(path, name) : (path) => `${path}[${name}]`);
    here = fieldSchemaOf(here, name);
    if (!here) throw new Error(`fieldPath: Invalid value: ${JSON.stringify(rule.fieldPath)}: must be a valid path`);
  }
  return (path) => suffixes.reduce((field, append) => append(field), path);
}

function worded({ reason }: ValidationRule, field: string, value: string, message: string): Cause {
  if (reason === 'FieldValueForbidden') return forbidden(field, message);
  if (reason === 'FieldValueRequired') return required(field, message);
  if (reason === 'FieldValueDuplicate') return duplicate(field, value);
  return invalid(field, value, message);
}
