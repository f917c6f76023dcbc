import { expect, test } from 'vitest';
import { consoleApp } from '../../deploy/console/app.ts';
import { authorizer, TooManyStrangers, type Viewer } from '../../deploy/console/authorize.ts';
import type { View } from '../../deploy/console/view.ts';
import { sightOf, visible } from '../../deploy/console/visible.ts';
import type { Kube } from '../../shared/runtime/kube.ts';

const viewer = (mayList: boolean): Viewer => ({ name: 'any', mayList: async () => mayList });
const nothing = { images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} };

test("a site whose name leads to 127.0.0.1 does not read the local page, which shows a browser's visitor the whole cluster", async () => {
  const app = consoleApp({
    watched: {} as never,
    authorize: async () => undefined,
    anonymous: viewer(true),
    assets: new Map([['console.html', { text: 'the page', type: 'text/html' }]]),
    log: () => undefined,
  });
  const statusFor = async (host: string) => (await app.request(`http://${host}/`)).status;
  expect(await statusFor('evil.example:8080')).toBe(421);
  expect(await statusFor('127.0.0.1.evil.example')).toBe(421);
  expect(await Promise.all(['127.0.0.1:8080', 'localhost', '[::1]:1'].map(statusFor))).toEqual([200, 200, 200]);
});

test('a token without rights learns neither how many slots there are nor who waits', async () => {
  const row = { slots: { total: 4, held: [] }, queue: ['theirs/a'], policy: [], faults: 0, basis: undefined };
  const view = { ...nothing, cluster: { cluster: row } } as unknown as View;
  expect(visible(view, await sightOf(viewer(false), view)).cluster).toEqual({});
});

test('an attacker who guesses tokens does not have the API server asked about each of them, and keeps no user from the page', async () => {
  let nowMs = 0;
  let asked = 0;
  const create = async (resource: { parse(value: unknown): unknown }, { spec }: { spec: { token: string } }) => {
    asked++;
    return resource.parse({
      status: { authenticated: spec.token.startsWith('of a '), user: { username: 'teacher', groups: [] } },
    });
  };
  const authorize = authorizer({ create } as unknown as Pick<Kube, 'create'>, () => nowMs);
  expect(await authorize('of a teacher')).toMatchObject({ name: 'teacher' });
  const guesses = Array.from({ length: 5000 }, (_, index) => authorize(`guess ${index}`));
  const found = await Promise.allSettled(guesses);
  expect(asked).toBe(60);
  expect(found.at(-1)).toMatchObject({ status: 'rejected', reason: expect.any(TooManyStrangers) });
  nowMs = 20_000;
  expect(await authorize('of a teacher')).toMatchObject({ name: 'teacher' });
  nowMs = 60_000;
  expect(await authorize('of a pupil')).toBeDefined();

  const app = consoleApp({
    watched: {} as never,
    authorize: () => Promise.reject(new TooManyStrangers(7)),
    assets: new Map(),
    log: () => undefined,
  });
  const answer = await app.request('/', { headers: { authorization: 'Bearer guess' } });
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '7']);
});
