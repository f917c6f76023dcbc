import { beforeAll, test } from 'vitest';
import { prepareForWritePoints, strikeWritePoints } from './strike-write-points.ts';

beforeAll(prepareForWritePoints);

test(
  'every write of one image, from its creation to its deletion, may go wrong in every way',
  () => strikeWritePoints(1),
  1_800_000,
);
