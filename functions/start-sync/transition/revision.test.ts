import { expect, test } from 'vitest';
import { contentStatus } from '../../../shared/images/content-digest.ts';
import { at, aVMDiskImage } from '../../../test/support/builders/images.ts';
import { newRevision } from './revision.ts';

test('a source that changed is one new revision', () => {
  const source = { etag: 'one', inspectedAt: at(0), queuedAt: at(0), changed: { revision: 3 } };
  const whyAt = (revision: number) => {
    const status = { phase: 'Succeeded' as const, revision, queuedAt: at(0), source, conditions: [] };
    const image = aVMDiskImage({ status: status as never });
    return newRevision({ ...image, status: { ...image.status, ...contentStatus(image) } } as typeof image)?.why;
  };
  expect([whyAt(3), whyAt(4)]).toEqual(['The object at its url changed.', undefined]);
});
