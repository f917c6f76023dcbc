import type { Entry } from './managed-fields-entries.ts';
import { pathsOf, pathText } from './managed-fields-set.ts';

/** A field that another manager has with another value. */
export interface ApplyConflict {
  manager: string;
  /** The manager as messages name it: `"kubectl" using v1`. */
  owner: string;
  field: string;
}

/** What an entry loses to an apply that is not forced. */
export function conflictsOf(entry: Entry): ApplyConflict[] {
  const { manager, subresource, operation, apiVersion, fields } = entry;
  const under = subresource === '' ? '' : ` with subresource ${JSON.stringify(subresource)}`;
  const using = operation === 'Update' ? ` using ${apiVersion}` : '';
  const owner = `${JSON.stringify(manager)}${under}${using}`;
  return pathsOf(fields).map((path) => ({ manager, owner, field: pathText(path) }));
}

/** The message of the 409 that conflicts are answered with. */
export function describeConflicts(conflicts: ApplyConflict[]): string {
  const [first] = conflicts;
  if (first && conflicts.length === 1)
    return `Apply failed with 1 conflict: conflict with ${first.owner}: ${first.field}`;
  const owners = [...new Set(conflicts.map(({ owner }) => owner))].sort();
  const lines = owners.flatMap((owner) => [
    `conflicts with ${owner}:`,
    ...conflicts.filter((conflict) => conflict.owner === owner).map(({ field }) => `- ${field}`),
  ]);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`;
}
