import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import startSync from '../../functions/start-sync/index.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { withCaches } from '../../shared/runtime/cache.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { statusOf } from './finished-images.ts';

const count = 10_000;
const mostBytes = 10_000;

test('an image that waits costs the cache of start-sync a few kilobytes, with a history of ten facts', async () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const ending = new AbortController();
  const ended = new Promise<undefined>((resolve) => ending.signal.addEventListener('abort', () => resolve(undefined)));
  const waiting = (index: number) => {
    const image = aVMDiskImage({ name: `waiting-${index}` });
    const { snapshot, references, unreferencedSince, ...status } = statusOf(image);
    const fact = { time: status.queuedAt, fact: 'Retrying', revision: 1, message: 'x'.repeat(100) };
    const history = Array.from({ length: 10 }, () => fact);
    const object = { ...image, status: { ...status, phase: 'Queued', history } };
    return VMDiskImage.parse(JSON.parse(JSON.stringify(object)));
  };
  const pages = async function* () {
    for (let from = 0; from < count; from += 500)
      yield { items: Array.from({ length: 500 }, (_, index) => waiting(from + index)), resourceVersion: '1' };
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  const kube = { pages, watch: () => ended } as unknown as Kube;
  const ofImages = startSync.caches?.filter(({ resource }) => resource === VMDiskImage);
  const { cached } = withCaches(kube, ofImages, { pause: () => ended, signal: ending.signal });
  expect(await cached?.(VMDiskImage)).toHaveLength(count);
  collect();
  const bytes = (process.memoryUsage().heapUsed - before) / count;
  console.log(`${(bytes / 1000).toFixed(1)} kB an image that waits, of ${count}`);
  expect(bytes).toBeLessThan(mostBytes);
  ending.abort();
}, 60_000);
