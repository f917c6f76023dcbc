import type { ClusterState } from './cluster-state.ts';
import { apiVersionOf, type Kind, presented, storeKeyOf } from './kind.ts';
import { type ListQuery, matcher } from './list-objects.ts';
import { parseResourceVersion } from './list-options.ts';
import { type ApiObject, frozen } from './objects.ts';
import type { StoreEvent } from './watch-log.ts';

/** One line of a watch. */
export interface WatchEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  object: ApiObject;
}

export interface WatchQuery
  extends Pick<ListQuery, 'namespace' | 'labelSelector' | 'fieldSelector' | 'resourceVersion'> {
  sendInitialEvents: boolean;
  /** Whether a line says where the beginning ends; a watch that is given no resourceVersion has one, too. */
  bookmarks: boolean;
}

/**
 * WATCH: tells `send` what matches now (asked from "" or 0) or what happened since, then every later change, until the
 * returned function is called. Throws 410 before the first event if the history does not reach back that far.
 */
export function watchObjects(
  { store }: ClusterState,
  kind: Kind,
  query: WatchQuery,
  send: (event: WatchEvent) => void,
): () => void {
  const matches = matcher(kind, query);
  const tell = (event: StoreEvent) => {
    if (query.namespace && event.object.metadata.namespace !== query.namespace) return;
    const seen = asSeen(event, matches);
    if (seen) send({ type: seen.type, object: presented(kind, seen.object) });
  };
  const from = parseResourceVersion(query.resourceVersion);
  if (from > 0 && !query.sendInitialEvents) {
    for (const event of store.since(storeKeyOf(kind), from)) tell(event);
  } else {
    for (const object of store.list(storeKeyOf(kind), query.namespace)) {
      if (matches(object)) send({ type: 'ADDED', object: presented(kind, object) });
    }
  }
  const hasBeginning = query.sendInitialEvents || query.resourceVersion === '';
  if (query.bookmarks && hasBeginning)
    send(bookmark(kind, store.resourceVersion, { 'k8s.io/initial-events-end': 'true' }));
  return store.subscribe(storeKeyOf(kind), tell);
}

/** A line that only says how far the watch has come. */
export function bookmark(kind: Kind, resourceVersion: number, annotations?: Record<string, string>): WatchEvent {
  const metadata = { resourceVersion: String(resourceVersion), ...(annotations && { annotations }) };
  return {
    type: 'BOOKMARK',
    object: { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata } as unknown as ApiObject,
  };
}

/** The event for a selector: an object that stops matching is DELETED, an object that starts to match is ADDED. */
function asSeen(event: StoreEvent, matches: (object: ApiObject) => boolean): WatchEvent | undefined {
  const before = event.previous !== undefined && matches(event.previous);
  if (event.type === 'DELETED') return before ? { type: 'DELETED', object: event.object } : undefined;
  if (matches(event.object)) return { type: before ? 'MODIFIED' : 'ADDED', object: event.object };
  return before ? { type: 'DELETED', object: departed(event) } : undefined;
}

/** An object that stops matching is reported in its last matching state, with the resourceVersion of the change. */
const departed = ({ previous, object }: StoreEvent): ApiObject =>
  frozen({
    ...(previous ?? object),
    metadata: { ...(previous ?? object).metadata, resourceVersion: object.metadata.resourceVersion },
  });
