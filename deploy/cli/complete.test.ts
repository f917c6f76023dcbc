import { expect, test } from 'vitest';
import { completed } from './complete.ts';

const unreachable = { cluster: () => Promise.reject(new Error('none')), contexts: async () => ['home', 'work'] };
/** What the last word may become, without the descriptions. */
const complete = async (...words: string[]) =>
  (await completed(words, () => unreachable)).map((line) => line.split('\t')[0]);

test.each([
  [['re'], ['retry', 'resume', ':4']],
  [['status', ''], expect.arrayContaining(['workspace', 'image', ':4'])],
  [
    ['why', 'im'],
    ['image/', ':6'],
  ],
  [['why', 'image/u'], [':4']],
  [['retry', '--'], expect.arrayContaining(['--namespace', '--all-namespaces', '--output', '--as', ':4'])],
  [
    ['status', '-o', 'j'],
    ['json', ':4'],
  ],
  [
    ['status', '--output', ''],
    ['json', 'yaml', 'wide', 'name', ':4'],
  ],
  [
    ['status', '--context', 'w'],
    ['work', ':4'],
  ],
  [['status', '-n', ''], [':4']],
  [['status', '--kubeconfig', ''], [':0']],
  [
    ['cost', '--by', ''],
    ['namespace', 'image', 'requester', ':4'],
  ],
  [
    ['policy', ''],
    ['set', 'unset', ':4'],
  ],
  [
    ['policy', 'set', 'concurr'],
    ['concurrency', ':4'],
  ],
  [['policy', 'set', 'concurrency', ''], [':4']],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', ':4'],
  ],
  [['nonsense', ''], [':4']],
])('%j becomes, without a cluster, %j', async (words, becomes) => {
  expect(await complete(...words)).toEqual(becomes);
});
