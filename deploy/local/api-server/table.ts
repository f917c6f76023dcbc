import { metadataOf } from './answer-form.ts';
import { apiVersionOf, type Column, type Kind } from './kind.ts';
import type { ApiObject } from './objects.ts';

/** The server-side table that `kubectl get` prints: the columns, and a row for each object. */
export function table(
  kind: Kind,
  objects: ApiObject[],
  options: { now: number; includeObject: string; metadata: Record<string, unknown>; withColumns: boolean },
) {
  const columns = kind.columns.some((column) => column.format === 'name')
    ? kind.columns
    : [nameColumn, ...kind.columns];
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.metadata,
    columnDefinitions: options.withColumns ? columns.map((column) => definition(kind, column)) : null,
    rows: objects.map((object) => ({
      cells: columns.map((column) => cellOf(column, object, options.now)),
      ...objectPart(object, options.includeObject),
    })),
  };
}

/** An age as kubectl writes it: `45s`, `3m12s`, `5h`, `2d3h`, `400d`. */
export function age(ageMs: number): string {
  const seconds = Math.floor(ageMs / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const both = (big: number, unit: string, small: number, smallUnit: string) =>
    small === 0 ? `${big}${unit}` : `${big}${unit}${small}${smallUnit}`;
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return both(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  if (hours < 8) return both(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  if (days < 8) return both(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? both(years, 'y', days % 365, 'd') : `${years}y`;
}

const nameColumn: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
  cell: ({ metadata }) => metadata.name,
};

/** Of a built-in kind the real server tells ages as text. */
const definition = (kind: Kind, { name, type, format = '', description = '', priority = 0 }: Column) => ({
  name,
  type: type === 'date' && !kind.custom ? 'string' : type,
  format,
  description,
  priority,
});

function cellOf(column: Column, object: ApiObject, now: number): unknown {
  const value = column.cell(object, now);
  if (column.type !== 'date') return value ?? null;
  if (!value) return value === null ? null : '<unknown>';
  const time = Date.parse(String(value));
  return Number.isNaN(time) ? '<invalid>' : age(now - time);
}

function objectPart(object: ApiObject, includeObject: string) {
  if (includeObject === 'None') return { object: null };
  if (includeObject === 'Object') return { object };
  return { object: metadataOf(object) };
}

export const listKindOf = (kind: Kind) => ({ apiVersion: apiVersionOf(kind), kind: `${kind.kind}List` });
