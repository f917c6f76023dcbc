import { describe, expect, test } from 'vitest';
import { unaccounted } from './compare.ts';

describe('the local cluster writes what was recorded of the real one', () => {
  test.each(['04-s3-raw-xz', '11-http-404'])('%s', async (scenario) => {
    expect(await unaccounted(scenario)).toEqual([]);
  });
});
