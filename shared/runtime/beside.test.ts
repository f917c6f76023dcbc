import { expect, test, vi } from 'vitest';
import type { Action } from '../actions.ts';
import type { KnownBeside } from '../function.ts';
import { defineFunction, on } from '../function.ts';
import { defineResource, type ObjectReference } from '../kinds/resource.ts';
import { ApiError } from './errors.ts';
import { serve } from './http.ts';
import type { Kube } from './kube.ts';
import { telemetryOf } from './telemetry/telemetry.ts';

const Widget = defineResource({ apiVersion: 'demo.example.com/v1', kind: 'Widget', plural: 'widgets' }, {});
const aWidget = (name: string) =>
  Widget.parse({ metadata: { name, namespace: 'lab', uid: `uid-${name}`, resourceVersion: '7' } });

/**
 * A function that writes the status of each widget of a reconcile beside the next ones. Each write is answered when it is released, by its
 * place among all writes.
 */
function served(crowd: readonly string[] = []) {
  const seen: { subjects: string[]; beside: KnownBeside | undefined }[] = [];
  const written: string[] = [];
  const held: ReturnType<typeof Promise.withResolvers<void>>[] = [];
  const patch = async (_: unknown, ref: ObjectReference) => {
    const answer = Promise.withResolvers<void>();
    held.push(answer);
    written.push(ref.name);
    await answer.promise;
    return aWidget(ref.name);
  };
  const declaration = defineFunction<{ widget: ReturnType<typeof aWidget> }>({
    name: 'turn-widget',
    on: [on.changed(Widget, { source: 'pelotech' }), on.sweep()],
    may: [],
    scale: 'single',
    observe: async ({ beside }, { subjects }) => {
      seen.push({ subjects: subjects.map(({ name }) => name), beside });
      const names = new Set([...subjects.map(({ name }) => name), ...crowd]);
      const isBusy = ({ metadata }: ReturnType<typeof aWidget>) => beside?.busy.has(metadata.uid);
      return [...names].map(aWidget).flatMap((widget) => (isBusy(widget) ? [] : [{ widget }]));
    },
    decide: ({ widget }): Action[] => [{ do: 'patchStatus', resource: Widget, of: widget, status: { phase: 'Done' } }],
    beside: ({ widget }) => (widget.metadata.name.startsWith('slot') ? undefined : widget),
  });
  const pending: (() => void)[] = [];
  const { app, drain } = serve(declaration, {
    kube: { patch } as unknown as Kube,
    telemetry: telemetryOf('turn-widget'),
    now: () => 0,
    pause: async () => undefined,
    random: () => 0,
    publisher: { publish: () => undefined, republish: () => undefined },
    after: (_, task) => {
      pending.push(task);
      return () => undefined;
    },
  });
  const post = async (headers: Record<string, string>) =>
    (await app.request('/', { method: 'POST', headers, body: '{}' })).status;
  const changed = (name: string) =>
    post({
      'ce-specversion': '1.0',
      'ce-id': '1',
      'ce-source': '/test',
      'ce-type': 'dev.knative.apiserver.ref.update',
      'content-type': 'application/json',
      'ce-apiversion': Widget.apiVersion,
      'ce-kind': Widget.kind,
      'ce-namespace': 'lab',
      'ce-name': name,
    });
  /** Runs what was to be looked at again. */
  const later = () => {
    const tasks = pending.splice(0);
    for (const task of tasks) task();
    return tasks.length;
  };
  const hasBegun = (count: number) => vi.waitFor(() => expect(written).toHaveLength(count));
  return { changed, drain, seen, written, held, hasBegun, later };
}

test('a reconcile does not wait for what is performed beside it, and knows of which objects that is', async () => {
  const { changed, seen, written, held, hasBegun } = served();
  const first = changed('new');
  await hasBegun(1);
  const second = changed('slot');
  await hasBegun(2);
  held[1]?.resolve();
  expect(await second).toBe(202);
  expect(await Promise.race([first, Promise.resolve('unanswered')])).toBe('unanswered');
  expect(seen.map(({ beside }) => [...(beside?.busy ?? [])])).toEqual([[], ['uid-new']]);
  held[0]?.resolve();
  expect(await first).toBe(202);
  expect(written).toEqual(['new', 'slot']);
});

test('an event about such an object is answered, and the object looked at when that is done', async () => {
  const { changed, seen, held, hasBegun, later } = served();
  const first = changed('new');
  await hasBegun(1);
  expect(await changed('new')).toBe(202);
  later();
  expect(seen.map(({ subjects }) => subjects)).toEqual([['new'], []]);
  held[0]?.resolve();
  await first;
  later();
  await vi.waitFor(() => expect(seen[2]?.subjects).toEqual(['new']));
});

test('of a crowd fifty are taken, four at a time; the others are looked at when half of these are done', async () => {
  const crowd = Array.from({ length: 60 }, (_, index) => `n${index}`);
  const { changed, seen, held, hasBegun, later } = served(crowd);
  void changed('n0');
  await hasBegun(4);
  void changed('slot');
  await hasBegun(5);
  expect(seen.at(-1)?.beside).toMatchObject({ room: 0, isAwaited: true });
  held.splice(4, 1)[0]?.resolve();
  for (let done = 1; done <= 25; done++) {
    expect(later()).toBe(0);
    held[done - 1]?.resolve();
    await hasBegun(done + 5);
  }
  expect(later()).toBe(1);
  await vi.waitFor(() => expect(seen.at(-1)?.subjects).toEqual(['n50']));
  expect(seen.at(-1)?.beside).toMatchObject({ room: 25, isAwaited: false });
  expect(seen.at(-1)?.beside?.busy.size).toBe(25);
});

test('of a crowd none is begun any more after a failure, until something happens', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const { changed, held, hasBegun, later } = served(Array.from({ length: 60 }, (_, index) => `n${index}`));
  void changed('n0');
  await hasBegun(4);
  held[0]?.reject(new ApiError(503, 'ServiceUnavailable', 'the server is unavailable'));
  for (let done = 1; done < 50; done++) {
    await hasBegun(Math.min(50, done + 4));
    held[done]?.resolve();
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(later()).toBe(0);
});

test.each([
  ['another writer was first', new ApiError(409, 'Conflict', 'the object has been modified'), 409, true],
  ['the API server is away', new ApiError(503, 'ServiceUnavailable', 'the server is unavailable'), 503, false],
])('if %s, its own event is not done', async (_, error, status, isLookedAt) => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined);
  const { changed, seen, held, hasBegun, later } = served();
  const first = changed('new');
  await hasBegun(1);
  held[0]?.reject(error);
  expect(await first).toBe(status);
  later();
  await new Promise((resolve) => setImmediate(resolve));
  expect(seen.map(({ subjects }) => subjects)).toEqual([['new'], ...(isLookedAt ? [['new']] : [])]);
});

test('the end of the process waits for it', async () => {
  const { changed, drain, held, hasBegun } = served();
  void changed('new');
  await hasBegun(1);
  const over = vi.fn();
  const drained = drain().then(over);
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).not.toHaveBeenCalled();
  held[0]?.resolve();
  await drained;
});
