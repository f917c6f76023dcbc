import { expect, onTestFinished, test } from 'vitest';
import { realClock } from '../clock.ts';
import { startObjectStore } from '../object-store/object-store.ts';
import { importImage } from './import-image.ts';

const size = 500 * 1024 * 1024;
const credentials = { accessKeyId: 'AKIDLAB', secretKey: 'lab-secret' };

test('holds a large download in little memory', async () => {
  const store = await startObjectStore({ keys: [credentials] });
  onTestFinished(store.close);
  await store.put('images', 'a.img', { size, seed: 1 });
  const before = process.memoryUsage().rss;
  let most = 0;
  const result = await importImage({
    capacityBytes: size,
    scratch: true,
    signal: new AbortController().signal,
    clock: realClock,
    sourceType: 's3',
    url: `${store.url}/images/a.img`,
    credentials,
    onBytes: () => {
      most = Math.max(most, process.memoryUsage.rss());
    },
  });
  expect(result).toMatchObject({ outcome: 'done', bytes: size });
  expect(most - before).toBeLessThan(200 * 1024 * 1024);
}, 60_000);
