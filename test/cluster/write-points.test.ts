import { beforeAll, test } from 'vitest';
import { prepareForWritePoints, strikeWritePoints } from './strike-write-points.ts';

beforeAll(prepareForWritePoints);

test(
  'a write of one image, from its creation to its deletion, may go wrong: each in one way or none, all ways in turn',
  () => strikeWritePoints(8),
  900_000,
);
