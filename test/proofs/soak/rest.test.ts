import { expect, test } from 'vitest';
import { at, aVMDiskImage, start } from '../../support/builders/images.ts';
import { isImageAtRest } from './rest.ts';

// Without a policy the back-off is its default of five minutes, as long as a soak waits for rest.
test.for([
  { dueAfterSeconds: 240, isAtRest: true },
  { dueAfterSeconds: -1, isAtRest: false },
])(
  'a failed image that is due again after $dueAfterSeconds s is at rest: $isAtRest',
  ({ dueAfterSeconds, isAtRest }) => {
    const image = aVMDiskImage({ status: { phase: 'Retrying', nextAttemptAt: at(dueAfterSeconds) } });
    expect(isImageAtRest(image, start)).toBe(isAtRest);
  },
);
