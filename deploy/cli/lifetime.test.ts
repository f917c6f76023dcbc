import { expect, test } from 'vitest';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import { start } from '../../test/support/builders/images.ts';
import { aWorkspace } from '../../test/support/builders/workspaces.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import type { Call } from './command.ts';
import { extend, hibernate, wake } from './lifetime.ts';

/** A cluster in memory with this workspace; what a command answers there, and the annotations afterwards. */
async function clusterWith(spec: Workspace['spec'], deleted = false) {
  const kube = memoryKube();
  await kube.create(Workspace, aWorkspace({ spec, deleted }));
  const cluster: Call['cluster'] = async () => ({
    kube,
    namespace: 'default',
    read: async () => undefined,
    say: () => undefined,
    timeoutMs: 0,
  });
  const call = { cluster, nowMs: start, is: () => false, text: () => undefined };
  return {
    answer: async (body: typeof extend, ...words: string[]) =>
      (await body.run({ ...call, words } as unknown as Call)).lines,
    annotations: async () => (await kube.get(Workspace, { name: 'lab' }))?.metadata.annotations,
  };
}

test('extend adds to what was added before, and says when the workspace expires', async () => {
  const { answer, annotations } = await clusterWith({ expiresAfter: '8h' });
  const created = expect.stringMatching(/^Workspace lab expires at \d{4}-/);
  expect(await answer(extend, 'lab', '2h')).toEqual([created]);
  await answer(extend, 'workspace/lab', '45m');
  expect(await annotations()).toEqual({ 'pelotech.ot/extend': '2h45m' });
});

test('hibernate and wake are annotations; waking says since when', async () => {
  const { answer, annotations } = await clusterWith({});
  expect(await answer(hibernate, 'lab')).toEqual(['Workspace lab hibernates. To wake it: ot-functions wake lab']);
  expect(await annotations()).toEqual({ 'pelotech.ot/hibernate': 'true' });
  expect(await answer(wake, 'lab')).toEqual(['Workspace lab wakes. To wait for it: ot-functions wait workspace/lab']);
  expect(await annotations()).toEqual({ 'pelotech.ot/awake-since': '2026-01-01T00:00:00Z' });
});

test.each([
  [
    'a workspace without an end',
    {},
    ['lab', '2h'],
    `Workspace lab has no end to put off. To give it one: kubectl patch otws lab --type merge -p '{"spec":{"schedule":{"endAt":"2026-01-01T02:00:00Z"}}}'`,
  ],
  ['no duration', { expiresAfter: '8h' }, ['lab'], 'expected WORKSPACE and DURATION, such as lab 2h, found lab'],
  [
    'none that parses',
    { expiresAfter: '8h' },
    ['lab', 'two'],
    'expected WORKSPACE and DURATION, such as lab 2h, found lab two',
  ],
  ['an image', { expiresAfter: '8h' }, ['image/lab', '2h'], 'expected workspace/NAME, found image/lab'],
])('extend is refused for %s', async (_, spec, words, says) => {
  await expect((await clusterWith(spec)).answer(extend, ...words)).rejects.toThrow(says);
});

test('what is being deleted neither hibernates nor wakes', async () => {
  const { answer } = await clusterWith({}, true);
  await expect(answer(hibernate, 'lab')).rejects.toThrow('Workspace lab is being deleted');
  await expect(answer(wake, 'lab')).rejects.toThrow('Workspace lab is being deleted');
});
