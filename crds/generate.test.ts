import { expect, test } from 'vitest';
import { drift } from './generate.ts';

test('the manifests in crds/ are what the schemas say', async () => {
  expect(await drift(false)).toEqual([]);
});
