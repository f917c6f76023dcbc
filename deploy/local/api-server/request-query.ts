import type { DeleteOptions } from './delete-object.ts';
import type { ListQuery } from './list-objects.ts';
import { isJsonObject } from './objects.ts';
import { type Cause, invalid as invalidField, notSupported } from './schema-cause.ts';
import { badRequest, invalid } from './status-error.ts';

/** The parameters of a list or watch. */
export const listQuery = (query: URLSearchParams, namespace: string | undefined): ListQuery => ({
  namespace,
  labelSelector: query.get('labelSelector') ?? '',
  fieldSelector: query.get('fieldSelector') ?? '',
  limit: numberIn(query, 'limit') ?? 0,
  continue: query.get('continue') ?? '',
  resourceVersion: query.get('resourceVersion') ?? '',
  resourceVersionMatch: query.get('resourceVersionMatch') ?? '',
});

/** A parameter that is a whole number; throws 400 for any other text. */
export function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (!text) return undefined;
  if (/^-?\d+$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

export const isTrue = (query: URLSearchParams, name: string) => ['1', 'true', 'True'].includes(query.get(name) ?? '');

/** Whether the request only asks what would happen; throws 422 for a dryRun other than All. */
export function isDryRun(values: string[], kind: string): boolean {
  const given = values.filter(Boolean);
  const other = given.filter((value) => value !== 'All');
  if (other.length > 0) throw invalid(ofOptions(kind), '', [notSupported('dryRun', other, ['All'])]);
  return given.length > 0;
}

/** How strictly unknown fields are taken; the default is a warning, as the server's is since 1.27. */
export function fieldValidationIn(query: URLSearchParams): 'Ignore' | 'Warn' | 'Strict' {
  const given = query.get('fieldValidation') || 'Warn';
  if (given === 'Ignore' || given === 'Warn' || given === 'Strict') return given;
  const cause = notSupported('fieldValidation', given, ['', 'Ignore', 'Strict', 'Warn']);
  throw invalid(ofOptions('PatchOptions'), '', [cause]);
}

/** Who the fields of a write belong to: the fieldManager, or else the program's name in User-Agent. */
export const fieldManagerIn = (query: URLSearchParams, userAgent = '') =>
  query.get('fieldManager') || (userAgent.split('/')[0] ?? '').slice(0, 128) || 'unknown';

/** DeleteOptions from the body, or from the parameters where there is no body. */
export function deleteOptions(query: URLSearchParams, body: unknown, user: string): DeleteOptions {
  const given = isJsonObject(body) ? body : {};
  const policy = policyIn(given, query);
  const grace = given.gracePeriodSeconds ?? numberIn(query, 'gracePeriodSeconds');
  const dryRun = Array.isArray(given.dryRun) ? given.dryRun.map(String) : query.getAll('dryRun');
  return {
    user,
    dryRun: isDryRun(dryRun, 'DeleteOptions'),
    ...(isJsonObject(given.preconditions) && { preconditions: preconditionsIn(given.preconditions) }),
    ...(policy && { propagationPolicy: policy }),
    ...(typeof grace === 'number' && { gracePeriodSeconds: grace }),
  };
}

const preconditionsIn = ({ uid, resourceVersion }: Record<string, unknown>) => ({
  ...(typeof uid === 'string' && { uid }),
  ...(typeof resourceVersion === 'string' && { resourceVersion }),
});

function policyIn(given: Record<string, unknown>, query: URLSearchParams) {
  const { orphanDependents } = given;
  const policy = String(given.propagationPolicy ?? query.get('propagationPolicy') ?? '');
  const refuse = (cause: Cause): never => {
    throw invalid(ofOptions('DeleteOptions'), '', [cause]);
  };
  if (policy && typeof orphanDependents === 'boolean') {
    const why = 'orphanDependents and deletionPropagation cannot be both set';
    return refuse(invalidField('propagationPolicy', policy, why));
  }
  if (typeof orphanDependents === 'boolean') return orphanDependents ? 'Orphan' : 'Background';
  if (policy === '' || policy === 'Background' || policy === 'Foreground' || policy === 'Orphan') return policy;
  return refuse(notSupported('propagationPolicy', policy, ['Foreground', 'Background', 'Orphan', 'nil']));
}

const ofOptions = (kind: string) => ({ group: 'meta.k8s.io', kind });
