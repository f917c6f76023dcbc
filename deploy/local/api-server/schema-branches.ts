import type { ErrorObject } from 'ajv';

/** Of the errors inside allOf, anyOf, oneOf and not, those the kube-apiserver says: of alternatives the best branch's, and one more for an allOf. */
export function explainBranches(errors: ErrorObject[]): ErrorObject[] {
  const muted = new Set<ErrorObject>();
  for (const error of errors) {
    for (const other of muteFor(error, errors)) muted.add(other);
  }
  const said = errors.filter((error) => !muted.has(error) && error.keyword !== 'if');
  return [...said, ...allOfErrors(said)];
}

function muteFor(error: ErrorObject, errors: ErrorObject[]): ErrorObject[] {
  if (!['anyOf', 'oneOf', 'not'].includes(error.keyword)) return [];
  const inside = errors.filter((other) => isInside(other, error));
  if (error.keyword === 'not' || error.params.passingSchemas) return inside;
  const best = Math.min(...deepest(inside).map((other) => branchOf(other, error)));
  return inside.filter((other) => branchOf(other, error) !== best);
}

function isInside(error: ErrorObject, outer: ErrorObject): boolean {
  const { schemaPath, instancePath } = error;
  return schemaPath.startsWith(`${outer.schemaPath}/`) && isWithin(instancePath, outer.instancePath);
}

const isWithin = (path: string, outer: string) => path === outer || path.startsWith(`${outer}/`);

const branchOf = (error: ErrorObject, outer: ErrorObject) =>
  Number.parseInt(error.schemaPath.slice(outer.schemaPath.length + 1), 10);

/** The branch that got furthest into the value explains most. */
function deepest(errors: ErrorObject[]): ErrorObject[] {
  const depth = ({ instancePath }: ErrorObject) => instancePath.split('/').length;
  const most = Math.max(...errors.map(depth));
  return errors.filter((error) => depth(error) === most);
}

/** Ajv only says what failed inside an allOf; the kube-apiserver also that it failed. */
function allOfErrors(errors: ErrorObject[]): ErrorObject[] {
  const failed = new Map<string, { error: ErrorObject; branches: Set<string> }>();
  for (const error of errors) {
    const [, schemaPath, branch = ''] = /^(.*\/allOf)\/(\d+)\//.exec(error.schemaPath) ?? [];
    if (schemaPath === undefined) continue;
    const key = `${schemaPath} ${error.instancePath}`;
    const entry = failed.get(key) ?? { error: { ...error, keyword: 'allOf', schemaPath }, branches: new Set() };
    failed.set(key, { ...entry, branches: entry.branches.add(branch) });
  }
  return [...failed.values()].map(({ error, branches }) => ({ ...error, params: { failed: branches.size } }));
}
