import { incomingObject } from './incoming-object.ts';
import { apiVersionOf, type Kind, type ScalePaths } from './kind.ts';
import { type ApiObject, copyOf, fieldAt, isJsonObject, type JsonObject } from './objects.ts';
import { invalid as invalidField } from './schema-cause.ts';
import { invalid, StatusError } from './status-error.ts';

/** Where the kinds of apps/v1 keep it; their selector is a LabelSelector. */
export const replicas: ScalePaths = { wanted: ['spec', 'replicas'], found: ['status', 'replicas'] };

/** The kind of the subresource `scale`, whatever it is of. */
export const scaleKind = { group: 'autoscaling', version: 'v1', kind: 'Scale', custom: false };

/** An object as its subresource `scale` shows it. */
export function scaleOf(kind: Kind, { metadata, ...object }: ApiObject): ApiObject {
  const paths = pathsOf(kind);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  const wanted = fieldAt(object, paths.wanted);
  if (wanted === undefined) {
    const why = `Internal error occurred: the spec replicas field ".${paths.wanted.join('.')}" does not exist`;
    throw new StatusError(500, 'InternalError', why);
  }
  const selector = paths.selector ? fieldAt(object, paths.selector) : inWords(fieldAt(object, ['spec', 'selector']));
  return {
    kind: scaleKind.kind,
    apiVersion: apiVersionOf(scaleKind),
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { ...(wanted !== 0 && { replicas: wanted }) },
    status: { replicas: fieldAt(object, paths.found) ?? 0, ...(selector ? { selector } : {}) },
  } as ApiObject;
}

/** The object with the replicas of a Scale; throws 400 for what is no Scale, 422 for one that cannot be. */
export function withScale(kind: Kind, object: ApiObject, body: unknown): ApiObject {
  const { metadata, spec } = incomingObject(scaleKind, body);
  const wanted = (isJsonObject(spec) && spec.replicas) || 0;
  if (typeof wanted !== 'number' || wanted < 0) {
    const fault = invalidField('spec.replicas', wanted, 'must be greater than or equal to 0');
    throw invalid(scaleKind, object.metadata.name, [fault]);
  }
  const next = copyOf(object);
  const { resourceVersion } = metadata;
  Object.assign(next.metadata, { resourceVersion, ...(metadata.name && { name: metadata.name }) });
  put(next, pathsOf(kind).wanted, wanted);
  return next;
}

/** An applied Scale as an apply of the object itself. */
export function appliedThroughScale(kind: Kind, body: unknown): unknown {
  const { metadata, spec } = incomingObject(scaleKind, body);
  const applied: JsonObject = { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata };
  if (isJsonObject(spec) && spec.replicas !== undefined) put(applied, pathsOf(kind).wanted, spec.replicas);
  return applied;
}

function pathsOf({ scale }: Kind): ScalePaths {
  if (!scale) throw new Error('only a kind that has a scale is asked for it');
  return scale;
}

function put(object: object, path: string[], value: unknown) {
  let fields = object as JsonObject;
  for (const name of path.slice(0, -1)) {
    if (!isJsonObject(fields[name])) fields[name] = {};
    fields = fields[name] as JsonObject;
  }
  fields[path.at(-1) ?? ''] = value;
}

/** A LabelSelector as Go prints it: in order of the keys. */
function inWords(selector: unknown): string {
  const labels = Object.entries((fieldAt(selector, ['matchLabels']) ?? {}) as Record<string, string>);
  const expressions = (fieldAt(selector, ['matchExpressions']) ?? []) as Expression[];
  const terms = [
    ...labels.map(([key, value]) => ({ key, text: `${key}=${value}` })),
    ...expressions.map((expression) => ({ key: expression.key, text: termOf(expression) })),
  ];
  return terms
    .toSorted((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
    .map(({ text }) => text)
    .join(',');
}

interface Expression {
  key: string;
  operator: string;
  values?: string[];
}

function termOf({ key, operator, values = [] }: Expression): string {
  if (operator === 'Exists') return key;
  if (operator === 'DoesNotExist') return `!${key}`;
  return `${key} ${operator === 'In' ? 'in' : 'notin'} (${values.toSorted().join(',')})`;
}
