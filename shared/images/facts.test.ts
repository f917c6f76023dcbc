import { expect, test } from 'vitest';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { requestedByLabel } from '../kinds/pelotech/virtual-machine.ts';
import { factAttributes } from './facts.ts';

const counted = (count: number) => ({ status: { references: { count } } });
const labels = { [requestedByLabel]: 'demo' };

test.each([
  ['that was never counted', {}, 'false', 'false'],
  ['that was made for a machine and never counted', { labels }, 'false', 'true'],
  ['that a machine names', counted(1), 'true', 'true'],
  ['that no machine names', counted(0), 'true', 'false'],
  ['that was made for a machine which is gone', { labels, ...counted(0) }, 'true', 'false'],
])('a fact about an image %s', (_, image, isCounted, isNamed) => {
  expect(factAttributes(aVMDiskImage(image))).toEqual({ counted: isCounted, named: isNamed });
});
