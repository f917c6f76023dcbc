import type { ClusterState } from './cluster-state.ts';
import { type Kind, presented, shelfOf } from './kind.ts';
import { type ApiObject, fieldAt } from './objects.ts';
import { parseFieldSelector, parseLabelSelector } from './selectors.ts';
import { badRequest, expired, StatusError } from './status-error.ts';

export interface ListQuery {
  namespace: string | undefined;
  labelSelector: string;
  fieldSelector: string;
  limit: number;
  continue: string;
  resourceVersion: string;
  resourceVersionMatch: string;
}

export interface ObjectList {
  items: ApiObject[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** LIST: what matches, at one resourceVersion for all pages of it; throws 400, 410, or 504 for a version yet to come. */
export function listObjects({ store }: ClusterState, kind: Kind, query: ListQuery): ObjectList {
  const matches = matcher(kind, query);
  const from = query.continue
    ? continuation(query.continue)
    : { resourceVersion: exactVersion(store, query), after: '' };
  if (query.continue && !store.remembers(from.resourceVersion)) throw pageExpired();
  const all = from.resourceVersion
    ? store.listAt(shelfOf(kind), query.namespace, from.resourceVersion)
    : store.list(shelfOf(kind), query.namespace);
  const resourceVersion = from.resourceVersion || store.resourceVersion;
  const rest = (from.after ? all.filter((object) => keyOf(object) > from.after) : all).filter(matches);
  const items = query.limit > 0 ? rest.slice(0, query.limit) : rest;
  const list = { items: items.map((item) => presented(kind, item)), resourceVersion: String(resourceVersion) };
  const last = items.at(-1);
  if (!last || items.length === rest.length) return list;
  const isSelected = query.labelSelector || query.fieldSelector;
  return {
    ...list,
    continue: tokenOf({ resourceVersion, after: keyOf(last) }),
    ...(!isSelected && { remainingItemCount: rest.length - items.length }),
  };
}

type Selectors = Pick<ListQuery, 'labelSelector' | 'fieldSelector'>;

/** A test of objects for a query's selectors; throws 400 for a malformed selector or a field the kind does not offer. */
export function matcher(kind: Kind, { labelSelector, fieldSelector }: Selectors): (object: ApiObject) => boolean {
  const labels = labelSelector ? readable(() => parseLabelSelector(labelSelector)) : undefined;
  const terms = fieldSelector ? readable(() => parseFieldSelector(fieldSelector)) : [];
  for (const { field } of terms) assertSelectable(kind, field);
  return (object) =>
    (labels?.(object.metadata.labels) ?? true) &&
    terms.every(({ field, operator, value }) => (textAt(kind, object, field) === value) === (operator === '='));
}

function readable<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw badRequest(error instanceof Error ? error.message : String(error));
  }
}

function assertSelectable(kind: Kind, field: string) {
  const always = kind.namespaced ? ['metadata.name', 'metadata.namespace'] : ['metadata.name'];
  if (!always.includes(field) && !kind.selectableFields.includes(field)) {
    throw badRequest(`field label not supported: ${field}`);
  }
}

function textAt(kind: Kind, object: ApiObject, field: string): string {
  const path = kind.kind === 'Event' && field === 'source' ? 'source.component' : field;
  const value = fieldAt(object, path.split('.'));
  return value === undefined || value === null ? '' : String(value);
}

const keyOf = ({ metadata }: ApiObject) => `${metadata.namespace ?? ''}/${metadata.name}`;

interface Continuation {
  resourceVersion: number;
  after: string;
}

const tokenOf = (token: Continuation) => Buffer.from(JSON.stringify(token)).toString('base64url');

function continuation(token: string): Continuation {
  try {
    const { resourceVersion, after } = JSON.parse(Buffer.from(token, 'base64url').toString()) as Continuation;
    if (Number.isSafeInteger(resourceVersion) && typeof after === 'string') return { resourceVersion, after };
  } catch {
    // Answered below: whatever is wrong with it, it is no token of ours.
  }
  throw badRequest(`invalid continue token: continue key is not valid: ${token}`);
}

/** The resourceVersion the list must be of; 0 is now. */
function exactVersion(
  store: ClusterState['store'],
  { resourceVersion, resourceVersionMatch, limit }: ListQuery,
): number {
  const wanted = parseResourceVersion(resourceVersion);
  if (wanted > store.resourceVersion) {
    const message = `Timeout: Too large resource version: ${wanted}, current: ${store.resourceVersion}`;
    throw new StatusError(504, 'Timeout', message, {
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds: 1,
    });
  }
  const isExact = resourceVersionMatch === 'Exact' || (limit > 0 && wanted > 0 && !resourceVersionMatch);
  return isExact ? wanted : 0;
}

/** Reads a resourceVersion parameter; '' and 0 are both "any". */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const message = `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw badRequest(message);
}

const pageExpired = () =>
  expired(
    'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
  );
