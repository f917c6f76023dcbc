import type { ClusterState } from './cluster-state.ts';
import { after, continuation, continueToken } from './continue-token.ts';
import { type Kind, presented, storeKeyOf } from './kind.ts';
import { assertListOptions, parseResourceVersion } from './list-options.ts';
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

interface ObjectList {
  items: ApiObject[];
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** LIST: what matches, at one resourceVersion for all pages of it; throws 400, 410, or 504 for a version yet to come. */
export function listObjects({ store }: ClusterState, kind: Kind, query: ListQuery): ObjectList {
  assertListOptions(query);
  const matches = matcher(kind, query);
  const from = query.continue
    ? continuation(query.continue)
    : { resourceVersion: exactVersion(store, query), start: '' };
  const isNewest = from.resourceVersion <= 0;
  if (!isNewest && !store.remembers(from.resourceVersion)) throw query.continue ? pageExpired(from.start) : tooOld();
  const all = isNewest
    ? store.list(storeKeyOf(kind), query.namespace)
    : store.listAt(storeKeyOf(kind), query.namespace, from.resourceVersion);
  const resourceVersion = isNewest ? store.resourceVersion : from.resourceVersion;
  const rest = all.filter((object) => keyIn(query, object) >= from.start && matches(object));
  const items = query.limit > 0 ? rest.slice(0, query.limit) : rest;
  const list = { items: items.map((item) => presented(kind, item)), resourceVersion: String(resourceVersion) };
  const last = items.at(-1);
  if (!last || items.length === rest.length) return list;
  const isSelected = query.labelSelector || query.fieldSelector;
  return {
    ...list,
    continue: continueToken({ resourceVersion, start: after(keyIn(query, last)) }),
    ...(!isSelected && { remainingItemCount: rest.length - items.length }),
  };
}

type Selectors = Pick<ListQuery, 'labelSelector' | 'fieldSelector'>;

/** A test of objects for a query's selectors; throws 400 for a malformed selector or a field the kind does not offer. */
export function matcher(kind: Kind, { labelSelector, fieldSelector }: Selectors): (object: ApiObject) => boolean {
  const labels = labelSelector ? readable(() => parseLabelSelector(labelSelector)) : undefined;
  const terms = fieldSelector ? readable(() => parseFieldSelector(fieldSelector)) : [];
  for (const { field } of terms) assertSelectable(kind, field);
  return (object) => {
    const shown = presented(kind, object);
    return (
      (labels?.(object.metadata.labels) ?? true) &&
      terms.every(({ field, operator, value }) => (textAt(kind, shown, field) === value) === (operator === '='))
    );
  };
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
    const hasOwn = kind.custom || kind.selectableFields.length > 0;
    const known = always.map((each) => JSON.stringify(each)).join(', ');
    throw badRequest(
      hasOwn
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only ${known}`,
    );
  }
}

function textAt(kind: Kind, object: ApiObject, field: string): string {
  const path = kind.kind === 'Event' && field === 'source' ? 'source.component' : field;
  const value = fieldAt(object, path.split('.'));
  return value === undefined || value === null ? '' : String(value);
}

/** The key of an object within what is listed: it begins with its namespace where the list is over all of them. */
const keyIn = ({ namespace }: ListQuery, { metadata }: ApiObject) =>
  namespace || !metadata.namespace ? metadata.name : `${metadata.namespace}/${metadata.name}`;

/** The resourceVersion the list must be of; 0 is now. */
function exactVersion(
  store: ClusterState['store'],
  { resourceVersion, resourceVersionMatch, limit }: ListQuery,
): number {
  const wanted = requestedVersion(resourceVersion);
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

const tooOld = () => expired('The resourceVersion for the provided list is too old.');

/** Tells how to go on from where the page begins, with whatever is newest. */
function pageExpired(start: string) {
  const error = expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.',
  );
  error.next = continueToken({ resourceVersion: -1, start });
  return error;
}

function requestedVersion(text: string): number {
  try {
    return parseResourceVersion(text);
  } catch (error) {
    throw badRequest(`invalid resource version: ${error instanceof Error ? error.message : String(error)}`);
  }
}
