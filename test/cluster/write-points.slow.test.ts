import { beforeAll, test } from 'vitest';
import { injectAtWritePoints, prepareForWritePoints } from './write-points.ts';

beforeAll(prepareForWritePoints);

test(
  'every write of one image, from its creation to its deletion, may go wrong in every way',
  () => injectAtWritePoints(1),
  1_800_000,
);
