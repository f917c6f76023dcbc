import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { goRegExp } from './schema-regexp.ts';

/** What the kube-apiserver finds wrong with a rule when it compiles it and the engine only when it runs it; undefined if nothing. */
export function faultOf(environment: Environment, rule: string): string | undefined {
  for (const node of nodesOf(environment.parse(rule).ast)) {
    const fault = faultIn(environment, node);
    if (fault) return fault;
  }
  return unknownFieldOf(environment, rule) ?? mixedListOf(environment, rule);
}

/** The rule with `matches` reading regular expressions as Go does. */
export function withGoRegExps(environment: Environment, rule: string): string {
  const ends = [...nodesOf(environment.parse(rule).ast)].flatMap((node) =>
    node.op === 'rcall' && node.args[0] === 'matches'
      ? [rule.indexOf('matches', node.args[1].range.end) + 'matches'.length]
      : [],
  );
  const backwards = ends.toSorted((a, b) => b - a);
  return backwards.reduce((rest, end) => `${rest.slice(0, end)}InGo${rest.slice(end)}`, rule);
}

function* nodesOf(value: unknown): Generator<ASTNode> {
  if (Array.isArray(value)) for (const item of value) yield* nodesOf(item);
  if (typeof value !== 'object' || value === null || !('op' in value) || !('args' in value)) return;
  yield value as ASTNode;
  yield* nodesOf(value.args);
}

function faultIn(environment: Environment, node: ASTNode): string | undefined {
  if (node.op === 'rcall') {
    const [name, receiver, [argument]] = node.args;
    if (name === 'bind' && receiver.op === 'id') return `undeclared reference to '${receiver.args}' (in container '')`;
    const isLiteral = name === 'matches' && argument?.op === 'value';
    return isLiteral && !works(() => goRegExp(String(argument.args))) ? 'invalid matches argument' : undefined;
  }
  if (node.op !== 'call') return undefined;
  const [name, [argument]] = node.args;
  if (!['duration', 'timestamp'].includes(name) || argument?.op !== 'value') return undefined;
  const { start, end } = node.range;
  return works(() => environment.evaluate(node.input.slice(start, end))) ? undefined : `invalid ${name} argument`;
}

function works(attempt: () => unknown): boolean {
  try {
    attempt();
    return true;
  } catch {
    return false;
  }
}

/** The engine does not look into `has(…)`; as an ordinary call it does. */
function unknownFieldOf(environment: Environment, rule: string): string | undefined {
  const { error } = environment.check(rule.replaceAll(/\bhas\s*\(/g, 'dyn('));
  return error?.code === 'no_such_key' ? error.summary : undefined;
}

/** Lists and maps are of one type throughout. */
function mixedListOf(environment: Environment, rule: string): string | undefined {
  const { error } = environment.clone({ homogeneousAggregateLiterals: true }).check(rule);
  return error?.code.startsWith('heterogeneous') ? error.summary : undefined;
}
