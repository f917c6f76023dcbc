import { readFile } from 'node:fs/promises';
import { evaluate } from '@marcbachmann/cel-js';
import { parse } from 'yaml';

interface Health {
  kind: string;
  inProgress: string;
  failed: string;
  current: string;
}

const file = new URL('../../../deploy/production/health/flux.yaml', import.meta.url);
const { spec } = parse(await readFile(file, 'utf8'), { merge: true }) as { spec: { healthCheckExprs: Health[] } };

/** The expressions that users copy, by kind. */
export const healthCheckExprs: readonly Health[] = spec.healthCheckExprs;

/** What Flux reports for an object, in the order in which kustomize-controller asks. */
export function fluxOf({ inProgress, failed, current }: Health, object: object): string {
  // As the API server has it: without the fields that are undefined.
  const found = JSON.parse(JSON.stringify(object));
  if (evaluate(inProgress, found)) return 'InProgress';
  if (evaluate(failed, found)) return 'Failed';
  return evaluate(current, found) ? 'Current' : 'InProgress';
}
