import type { SSEStreamingApi } from 'hono/streaming';
import type { Viewer } from './authorize.ts';
import { namespacesIn, type Sight, seesAnything, sightOf, visible, visibleChanges } from './visible.ts';
import type { Watched } from './watch-cluster.ts';

/** Rights are checked again at this interval while a page is open; a comment keeps proxies from closing the stream. */
const againMs = 20_000;

/** What one open page is shown by. */
interface Showing {
  stream: Pick<SSEStreamingApi, 'writeSSE' | 'write'>;
  watched: Pick<Watched, 'view' | 'onChange'>;
  viewer: Viewer;
  /** There is a token to forget. */
  mayLogOut: boolean;
  /** Looks the user up again; undefined if the token is no longer valid. Rejects if the API server does not answer. */
  again(): Promise<Viewer | undefined>;
  /** Resolves when the page is closed. */
  over: Promise<void>;
  warn(message: string): void;
  everyMs?: number;
}

/**
 * Sends the view and its changes until the page is closed; rights are checked again periodically and for each new namespace.
 * A page that reads slower than the cluster changes receives the whole view again instead of every change, so that no backlog grows.
 * Ends if the token is no longer valid, if the API server fails to answer twice, or if the page reads nothing from one round to the next.
 */
export async function show({
  stream,
  watched,
  viewer,
  mayLogOut,
  again,
  over,
  warn,
  everyMs = againMs,
}: Showing): Promise<void> {
  let current = viewer;
  let sight = await sightOf(current, watched.view());
  const ended = Promise.withResolvers<void>();

  let isWriting = false;
  let isBehind = false;
  let written = 0;
  const writeUnlessBusy = (write: () => Promise<unknown>): void => {
    if (isWriting) {
      isBehind = true;
      return;
    }
    isWriting = true;
    write().then(() => {
      isWriting = false;
      written++;
      if (!isBehind) return;
      isBehind = false;
      sendView();
    }, ended.resolve);
  };
  const send = (event: string, data: unknown) => stream.writeSSE({ event, data: JSON.stringify(data) });
  const sendView = () =>
    writeUnlessBusy(() =>
      send('view', {
        viewer: current.name,
        mayLogOut,
        seesAnything: seesAnything(sight),
        view: visible(watched.view(), sight),
      }),
    );
  const refreshSight = async () => {
    const next = await sightOf(current, watched.view());
    const isChanged = isOther(sight, next);
    sight = next;
    if (isChanged) sendView();
  };

  const asked = new Set(namespacesIn(watched.view()));
  sendView();
  const off = watched.onChange((changes) => {
    const fresh = [
      ...namespacesIn({
        images: changes.images?.set,
        machines: changes.machines?.set,
        servers: changes.servers?.set,
        pruned: changes.pruned?.set,
      }),
    ].filter((name) => !asked.has(name));
    for (const name of fresh) asked.add(name);
    const permitted = visibleChanges(changes, sight);
    if (permitted) writeUnlessBusy(() => send('changes', permitted));
    if (fresh.length > 0) refreshSight().catch((error: unknown) => warn(String(error)));
  });
  let failures = 0;
  let writtenBefore = -1;
  const timer = setInterval(async () => {
    if (isWriting && written === writtenBefore) return ended.resolve();
    writtenBefore = written;
    try {
      const still = await again();
      if (!still) return ended.resolve();
      failures = 0;
      current = still;
      await refreshSight();
    } catch (error) {
      warn(String(error));
      if (++failures > 1) return ended.resolve();
    }
    if (!isWriting) writeUnlessBusy(() => stream.write(': still here\n\n'));
  }, everyMs);
  await Promise.race([over, ended.promise]);
  clearInterval(timer);
  off();
}

const isOther = (a: Sight, b: Sight) => JSON.stringify(plain(a)) !== JSON.stringify(plain(b));
const plain = (sight: Sight) =>
  Object.values(sight).map((scope) => (scope === 'everywhere' ? scope : [...scope].sort()));
