import { celEnvironment } from './cel-environment.ts';
import { faultOf, withGoRegExps } from './cel-lint.ts';

/** An expression over values that no schema describes: what they are shows when it runs. */
export type Program = (variables: Record<string, unknown>) => unknown;

/** Compiles expressions that know these variables; throws an Error with the server's message if an expression does not compile. */
export function dynamicCompiler(variables: readonly string[]): (source: string, type?: 'bool' | 'string') => Program {
  const environment = celEnvironment().clone();
  for (const name of variables) environment.registerVariable(name, 'dyn');
  return (source, wanted) => {
    const { type, valid, error } = environment.check(source);
    if (!valid) throw new Error(`compilation failed: ${firstLine(error)}`);
    if (wanted && type !== wanted) throw new Error(`must evaluate to ${wanted} but got ${type}`);
    const fault = faultOf(environment, source);
    if (fault) throw new Error(`compilation failed: ${fault}`);
    const run = environment.parse(withGoRegExps(environment, source));
    return (values) => run(values);
  };
}

/** The first line of an engine's error; the next lines draw its position. */
export const firstLine = (error: unknown) =>
  (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';

/** What kept an expression from a verdict, as Go's engine says it. */
export const runtimeError = (error: unknown) => firstLine(error).replace(/^No such key/, 'no such key');

/** An expression's message counts only if it is one line of text. */
export function explained(explain: Program | undefined, values: Parameters<Program>[0]): string {
  try {
    const text = explain?.(values);
    return typeof text === 'string' && !text.trim().includes('\n') ? text.trim() : '';
  } catch {
    return '';
  }
}

/** JSON as an expression sees it: whole numbers are ints, objects are maps. */
export function dynamicValue(value: unknown): unknown {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map(dynamicValue);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([name, field]) => [name, dynamicValue(field)]));
}
