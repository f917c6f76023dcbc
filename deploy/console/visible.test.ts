import { describe, expect, test } from 'vitest';
import type { Viewed, Viewer } from './authorize.ts';
import type { Changes, ImageRow, View } from './view.ts';
import { seesAnything, sightOf, visible, visibleChanges } from './visible.ts';

const image = (namespace: string, name: string): ImageRow => ({
  namespace,
  name,
  phase: 'Queued',
  state: 'under way',
  cause: undefined,
  bytes: undefined,
  syncs: [],
  share: undefined,
  isReady: false,
  message: '',
  revision: 1,
  attempts: 0,
  queuedAt: undefined,
  place: 1,
  startsAtMs: undefined,
  usedBy: 1,
  users: ['theirs/vm'],
  isKept: false,
  dueAtMs: undefined,
  estimate: undefined,
  createdAt: '2026-01-01T00:00:00Z',
});

const stated = { phase: 'Ready', state: 'Ready', message: '', cause: undefined } as const;
const machine = { ...stated, image: 'ours/a', ipAddress: '', node: '', createdAt: '' };
const server = { ...stated, networks: '', volumes: [], node: '', restarts: 0, createdAt: '' };
const view: View = {
  cluster: {
    cluster: {
      slots: { total: 2, held: [{ image: 'theirs/b', attempt: 1, since: '', endsAtMs: undefined }] },
      queue: ['theirs/b', 'ours/a'],
      policy: [
        { key: 'concurrency', value: '2', isSet: true, fault: undefined },
        { key: 'allowedSources', value: 'https://secret.example/*', isSet: true, fault: undefined },
      ],
      faults: 1,
      basis: undefined,
      stopped: { why: 'the egressBudget (9 GiB) is spent', command: 'ot-functions cost' },
      egress: { '2026-01-01': { ours: 1, theirs: 2 } },
      pricePerGiB: 0.09,
      budget: { bytes: 9, days: 30, left: 6 },
    },
  },
  images: { 'ours/a': image('ours', 'a'), 'theirs/b': image('theirs', 'b') },
  machines: { 'theirs/vm': { namespace: 'theirs', name: 'vm', ...machine } },
  servers: {
    'theirs/web': { namespace: 'theirs', name: 'web', ...server },
    'ours/web': { namespace: 'ours', name: 'web', ...server },
  },
  workspaces: {
    lab: { name: 'lab', ...stated, ready: '1/1', components: [], networks: [], members: [], createdAt: '' },
  },
  pruned: { u: { namespace: 'theirs', name: 'old', time: '', why: '' } },
};

/** A user who may list these: `images`, or `images in ours`. */
const viewer = (...may: string[]): Viewer => ({
  name: 'a-user',
  mayList: async (what: Viewed, namespace?: string) => may.includes(namespace ? `${what} in ${namespace}` : what),
});

describe('a user who may list', () => {
  test('everything sees everything', async () => {
    const sight = await sightOf(viewer('images', 'machines', 'servers', 'workspaces'), view);
    expect(visible(view, sight)).toEqual(view);
  });

  test('the images of one namespace sees these, and the place of others without their names', async () => {
    const sight = await sightOf(viewer('images in ours'), view);
    const seen = visible(view, sight);
    expect(Object.keys(seen.images)).toEqual(['ours/a']);
    expect([seen.machines, seen.servers, seen.workspaces, seen.pruned]).toEqual([{}, {}, {}, {}]);
    expect(seen.cluster.cluster?.queue).toEqual(['(another namespace)', 'ours/a']);
    expect(JSON.stringify(seen)).not.toMatch(/theirs|secret\.example/);
    expect(seen.cluster.cluster).toMatchObject({
      egress: { '2026-01-01': { ours: 1 } },
      budget: undefined,
      pricePerGiB: undefined,
      stopped: { why: 'an administrator has to look at the queue' },
    });
  });

  test('images of one namespace learns how many keys of the policy cannot be read, not which', async () => {
    const row = visible(view, await sightOf(viewer('images in ours'), view)).cluster.cluster;
    expect([row?.faults, row?.policy.map(({ key }) => key)]).toEqual([1, ['concurrency']]);
  });

  test('images of a namespace whose last one was pruned learns why', async () => {
    const emptied = { ...view, pruned: { u: { namespace: 'gone', name: 'old', time: '', why: 'unused' } } };
    expect(visible(emptied, await sightOf(viewer('images in gone'), emptied)).pruned).toEqual(emptied.pruned);
  });

  test('machines on OpenStack in one namespace sees these', async () => {
    const seen = visible(view, await sightOf(viewer('servers in ours'), view));
    expect([Object.keys(seen.servers), seen.images]).toEqual([['ours/web'], {}]);
  });

  test('nothing sees nothing, and a message says so', async () => {
    const sight = await sightOf(viewer(), view);
    expect(seesAnything(sight)).toBe(false);
    expect(visible(view, sight)).toMatchObject({ images: {}, machines: {}, servers: {}, workspaces: {}, pruned: {} });
  });
});

test('of changes they see those of what they see', async () => {
  const sight = await sightOf(viewer('images in ours'), view);
  const ours: Changes = { images: { set: { 'ours/a': image('ours', 'a') }, gone: ['ours/c'] } };
  expect(visibleChanges(ours, sight)).toMatchObject({ images: { set: { 'ours/a': { name: 'a' } }, gone: ['ours/c'] } });
  const theirs: Changes = {
    images: { set: { 'theirs/b': image('theirs', 'b') }, gone: ['theirs/c'] },
    workspaces: { set: view.workspaces, gone: [] },
  };
  expect(visibleChanges(theirs, sight)).toBeUndefined();
});
