import { describe, expect, test } from 'vitest';
import { unaccounted } from './compare.ts';

describe('the local cluster writes what the real one wrote', () => {
  test.each(['11-http-404', '51-clone-block-larger'])('%s', async (scenario) => {
    expect(await unaccounted(scenario)).toEqual([]);
  });
});
