import type { ServerResponse } from 'node:http';
import type { Encoder } from './answer.ts';
import { type AnswerForm, metadataOf } from './answer-form.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Kind } from './kind.ts';
import type { ApiObject } from './objects.ts';
import { StatusError, statusOf } from './status-error.ts';
import { table } from './table.ts';
import { bookmark, type WatchEvent, type WatchQuery, watchObjects } from './watch-objects.ts';

interface WatchOptions {
  query: WatchQuery;
  timeoutSeconds: number | undefined;
  bookmarks: boolean;
  form: AnswerForm;
  /** What each row of a table carries along. */
  includeObject: string;
}

// A client that reads nothing while this much waits for it is disconnected, as the watch cache does; it lists again.
const mostWaitingBytes = 64 * 1024 * 1024;
const bookmarkEveryMs = 60_000;

/** Answers a WATCH: one line of JSON for each event, sent at once, until the client, the time limit or `end` ends it. */
export function streamWatch(
  state: ClusterState,
  encoder: Encoder,
  kind: Kind,
  options: WatchOptions,
  response: ServerResponse,
): { end: () => void } {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  const encode = lineEncoder(state, encoder, kind, options);
  const send = (event: WatchEvent) => {
    response.write(encode(event));
    if (response.writableLength > mostWaitingBytes) response.destroy();
  };
  const stops: (() => void)[] = [];
  const end = () => {
    for (const stop of stops.splice(0)) stop();
    response.end();
  };
  response.once('close', end);
  try {
    stops.push(watchObjects(state, kind, options.query, send));
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    response.write(`${JSON.stringify({ type: 'ERROR', object: statusOf(error) })}\n`);
    end();
    return { end };
  }
  if (options.bookmarks)
    stops.push(every(state, bookmarkEveryMs, () => send(bookmark(kind, state.store.resourceVersion))));
  if (options.timeoutSeconds) stops.push(state.clock.after(options.timeoutSeconds * 1000, end));
  return { end };
}

function every({ clock }: ClusterState, intervalMs: number, task: () => void): () => void {
  let off = clock.after(intervalMs, again);
  function again() {
    task();
    off = clock.after(intervalMs, again);
  }
  return () => off();
}

function lineEncoder(
  { clock }: ClusterState,
  encoder: Encoder,
  kind: Kind,
  { form, includeObject }: WatchOptions,
): (event: WatchEvent) => string {
  if (form === 'object') return ({ type, object }) => `{"type":"${type}","object":${encoder.encode(object)}}\n`;
  if (form === 'metadata') return ({ type, object }) => `${JSON.stringify({ type, object: metadataOf(object) })}\n`;
  let withColumns = true;
  return ({ type, object }) => {
    const rows: ApiObject[] = type === 'BOOKMARK' ? [] : [object];
    const metadata = { resourceVersion: object.metadata.resourceVersion };
    const line = { type, object: table(kind, rows, { now: clock.now(), includeObject, metadata, withColumns }) };
    withColumns = false;
    return `${JSON.stringify(line)}\n`;
  };
}
