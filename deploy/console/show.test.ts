import { describe, expect, test } from 'vitest';
import type { Viewer } from './authorize.ts';
import { show } from './show.ts';
import type { Changes, View } from './view.ts';

const none: View = { cluster: {}, images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} };
const imageIn = (namespace: string) => ({ [`${namespace}/ubuntu`]: { namespace, name: 'ubuntu', users: [] } });
const viewOf = (...namespaces: string[]) =>
  ({ ...none, images: Object.assign({}, ...namespaces.map(imageIn)) }) as View;
const whoMay = (may: boolean): Viewer => ({ name: 'teacher', mayList: async () => may });

/** A page that is shown a view, and what it was told; `read` lets it read what was written. */
function aPage({ again, isSlow = false }: { again: () => Promise<Viewer | undefined>; isSlow?: boolean }) {
  const told: { event: string | undefined; data: string }[] = [];
  const waiting: (() => void)[] = [];
  let tellChange: (changes: Changes) => void = () => undefined;
  let view = viewOf('ours', 'theirs');
  const over = Promise.withResolvers<void>();
  const ended = show({
    stream: {
      writeSSE: async ({ event, data }) => {
        told.push({ event, data: await data });
        if (isSlow) await new Promise<void>((read) => waiting.push(read));
      },
      write: async () => undefined as never,
    },
    watched: {
      view: () => view,
      onChange: (listener) => {
        tellChange = listener;
        return () => undefined;
      },
    },
    viewer: whoMay(true),
    mayLogOut: true,
    again,
    over: over.promise,
    warn: () => undefined,
    everyMs: 20,
  });
  const appear = (namespace: string) => {
    view = { ...view, images: { ...view.images, ...imageIn(namespace) } } as View;
    tellChange({ images: { set: imageIn(namespace), gone: [] } } as unknown as Changes);
  };
  return { told, ended, appear, leave: over.resolve, read: () => waiting.shift()?.() };
}

const emptied = ({ told }: ReturnType<typeof aPage>) =>
  expect.poll(() => told.findLastIndex(({ data }) => data.includes('"images":{}'))).toBeGreaterThan(0);

describe('an open page', () => {
  test('that may see no more what it saw sees it no more, whatever is new', async () => {
    const page = aPage({ again: async () => whoMay(false) });
    await emptied(page);
    const before = page.told.length;
    page.appear('new');
    page.leave();
    await page.ended;
    expect(page.told.slice(before).filter(({ data }) => /theirs|ours|new/.test(data))).toEqual([]);
  });

  test('sees nothing new while the API server does not answer, and ends if that lasts', async () => {
    let asked = 0;
    const page = aPage({
      again: async () => {
        if (++asked > 1) throw new Error('no answer');
        return whoMay(false);
      },
    });
    await page.ended;
    expect(asked).toBe(3);
    expect(page.told.at(-1)?.data).toContain('"images":{}');
    expect(page.told.filter(({ data }) => data.includes('theirs'))).toHaveLength(1);
  });

  test('that reads slowly receives the current view, not every change', async () => {
    const page = aPage({ again: async () => whoMay(true), isSlow: true });
    await expect.poll(() => page.told.length).toBe(1);
    for (let index = 0; index < 50; index++) page.appear(`lab-${index}`);
    page.read();
    await expect.poll(() => page.told.length).toBe(2);
    expect(page.told[1]).toMatchObject({ event: 'view', data: expect.stringContaining('lab-49') });
    page.leave();
    await page.ended;
  });

  test('that reads nothing at all is ended', async () => {
    const page = aPage({ again: async () => whoMay(true), isSlow: true });
    await page.ended;
    expect(page.told).toHaveLength(1);
  });
});
