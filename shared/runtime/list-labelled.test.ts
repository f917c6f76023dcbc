import { expect, test } from 'vitest';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import { Pod } from '../kinds/core/pod.ts';
import type { ListOptions } from './kube.ts';
import { listLabelled } from './list-labelled.ts';

const label = 'pelotech.ot/disk-image-uid';
const kube = memoryKube();
for (const value of ['uid-0', 'uid-1', 'uid-600', 'uid-another'])
  await kube.create(Pod, { metadata: { namespace: 'farm', name: `of-${value}`, labels: { [label]: value } } });
await kube.create(Pod, { metadata: { namespace: 'farm', name: 'unused' } });

test.each([
  { count: 2, lists: 1, found: ['of-uid-0', 'of-uid-1'] },
  { count: 500, lists: 5, found: ['of-uid-0', 'of-uid-1'] },
  { count: 601, lists: 1, found: ['of-uid-0', 'of-uid-1', 'of-uid-600'] },
])('the objects with one of $count values of a label are found with $lists lists', async ({ count, lists, found }) => {
  const asked: ListOptions[] = [];
  const counted = {
    list: ((resource, options) => {
      asked.push(options ?? {});
      return kube.list(resource, options);
    }) as typeof kube.list,
    pages: ((resource, options) => {
      asked.push(options ?? {});
      return kube.pages(resource, options);
    }) as typeof kube.pages,
  };
  const values = Array.from({ length: count }, (_, index) => `uid-${index}`);
  const objects = await listLabelled(counted, Pod, label, values);
  expect(objects.map(({ metadata }) => metadata.name).sort()).toEqual(found);
  expect(asked).toHaveLength(lists);
});
