import { expect, test } from 'vitest';
import type { Kube } from '../../../shared/runtime/kube.ts';
import { startInformer } from './informer.ts';
import { Claim } from './kinds.ts';

const claim = (name: string, resourceVersion: number, annotations: Record<string, string> = {}) =>
  Claim.parse({
    metadata: { namespace: 'lab', name, uid: `uid-${name}`, resourceVersion: `${resourceVersion}`, annotations },
    spec: {},
  });
const asked = { 'cdi.kubevirt.io/storage.import.requiresScratch': 'true' };

test('a list that was read before a write of ours was answered does not undo it', async () => {
  const abort = new AbortController();
  const { promise: listed, resolve: list } = Promise.withResolvers<void>();
  const { promise: watched, resolve: watching } = Promise.withResolvers<void>();
  const pages = async function* () {
    await listed;
    yield { items: [claim('prime', 5), claim('other', 7)], resourceVersion: '9' };
  };
  const watch = () => {
    watching();
    return new Promise<void>((resolve) => abort.signal.addEventListener('abort', () => resolve()));
  };
  const informer = startInformer({ pages, watch } as unknown as Kube, Claim, abort.signal);
  const notified: string[] = [];
  informer.onChange(({ metadata }) => notified.push(`${metadata.name} ${metadata.resourceVersion}`));
  informer.learn(claim('prime', 10, asked));
  informer.learn(claim('made', 11));
  informer.learn(claim('deleted', 8));
  list();
  await watched;
  expect([...informer.objects.values()].map(({ metadata }) => [metadata.name, metadata.resourceVersion])).toEqual([
    ['prime', '10'],
    ['other', '7'],
    ['made', '11'],
  ]);
  expect(notified).toEqual(['prime 10', 'other 7', 'made 11', 'deleted 8']);
  abort.abort();
  await informer.done;
});
