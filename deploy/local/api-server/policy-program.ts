import { dynamicCompiler, explained, type Program, runtimeError } from './cel-dynamic.ts';
import { type ApiObject, fieldAt, objectsAt } from './objects.ts';

/** A ValidatingAdmissionPolicy whose expressions can run. */
export interface PolicyProgram {
  isFailing: boolean;
  conditions: Checked[];
  variables: { name: string; run: Program }[];
  validations: (Checked & { explain: Program | undefined; message: string; reason: string })[];
}

interface Checked {
  source: string;
  run: Program;
}

/** What expressions may name; `variables` not in conditions. */
const known = ['object', 'oldObject', 'request', 'params', 'namespaceObject'];

const textOf = (value: unknown) => (typeof value === 'string' ? value : '');

/** Each expression of a policy with its field, in order; throws for the first that does not compile. */
export function compilePolicy(
  { spec }: ApiObject,
  onFault: (field: string, source: string, why: string) => void,
): PolicyProgram {
  const alone = dynamicCompiler(known);
  const withVariables = dynamicCompiler([...known, 'variables']);
  const compile = (compiler: typeof alone, field: string, source: string, type?: 'bool' | 'string'): Program => {
    try {
      return compiler(source, type);
    } catch (error) {
      onFault(field, source, error instanceof Error ? error.message : String(error));
      return () => false;
    }
  };
  return {
    isFailing: fieldAt(spec, ['failurePolicy']) !== 'Ignore',
    conditions: objectsAt(spec, 'matchConditions').map(({ expression }, index) => {
      const source = textOf(expression);
      return { source, run: compile(alone, `spec.matchConditions[${index}].expression`, source, 'bool') };
    }),
    variables: objectsAt(spec, 'variables').map(({ name, expression }, index) => ({
      name: textOf(name),
      run: compile(withVariables, `spec.variables[${index}].expression`, textOf(expression)),
    })),
    validations: objectsAt(spec, 'validations').map(({ expression, message, messageExpression, reason }, index) => {
      const field = `spec.validations[${index}]`;
      const source = textOf(expression);
      return {
        source,
        run: compile(withVariables, `${field}.expression`, source, 'bool'),
        explain: messageExpression
          ? compile(withVariables, `${field}.messageExpression`, textOf(messageExpression), 'string')
          : undefined,
        message: textOf(message),
        reason: textOf(reason) || 'Invalid',
      };
    }),
  };
}

/** Why a policy refuses a request. */
export interface Denial {
  message: string;
  reason: string;
}

/** What a policy says of a request; nothing where its conditions leave the request out. */
export function denialsOf(program: PolicyProgram, values: Record<string, unknown>): Denial[] {
  const { isFailing, conditions, validations } = program;
  const onError = (message: string): Denial[] => (isFailing ? [{ message, reason: 'Invalid' }] : []);
  const verdicts = conditions.map(({ source, run }) => verdictOf(source, run, values));
  if (verdicts.includes(false)) return [];
  const errors = verdicts.filter((verdict) => typeof verdict === 'string');
  if (errors.length > 0) return onError(errors.length === 1 ? String(errors[0]) : `[${errors.join(', ')}]`);
  const all = { ...values, variables: lazily(program, values) };
  return validations.flatMap(({ source, run, explain, message, reason }): Denial[] => {
    const verdict = verdictOf(source, run, all);
    if (verdict === true) return [];
    if (verdict !== false) return onError(verdict);
    return [{ message: explained(explain, all) || message.trim() || `failed expression: ${source.trim()}`, reason }];
  });
}

function verdictOf(source: string, run: Program, values: Record<string, unknown>): boolean | string {
  try {
    return run(values) === true;
  } catch (error) {
    return `expression '${source}' resulted in error: ${runtimeError(error)}`;
  }
}

/** Each variable is computed when it is asked for, and once. */
function lazily({ variables }: PolicyProgram, values: Record<string, unknown>): object {
  const found: Record<string, unknown> = {};
  for (const { name, run } of variables) {
    const known = new Map<string, unknown>();
    const get = () => {
      if (!known.has(name)) known.set(name, run({ ...values, variables: found }));
      return known.get(name);
    };
    Object.defineProperty(found, name, { enumerable: true, get });
  }
  return found;
}
