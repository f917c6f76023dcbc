import { beforeAll, test } from 'vitest';
import { injectAtWritePoints, prepareForWritePoints } from './write-points.ts';

beforeAll(prepareForWritePoints);

test(
  'a write of one image, from its creation to its deletion, may go wrong: each in one way or none, over the writes in all ways',
  () => injectAtWritePoints(8),
  900_000,
);
