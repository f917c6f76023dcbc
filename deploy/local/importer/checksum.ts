import { createHash } from 'node:crypto';
import { ImportFailure } from './failure.ts';

/** Holds a download against `algorithm:hex`; nothing without one. Throws an ImportFailure for an invalid checksum. */
export function checkedSum(expected: string | undefined) {
  if (!expected) return undefined;
  const [, algorithm = '', hex = ''] = /^\s*(\w+)\s*:\s*([0-9a-f]+)\s*$/.exec(expected.toLowerCase()) ?? [];
  if (hexLength[algorithm] !== hex.length) {
    throw new ImportFailure(
      `Unable to connect to http data source: invalid checksum: expected 'algorithm:hash' of md5, sha1, sha256 or sha512, got '${expected}'`,
    );
  }
  const hash = createHash(algorithm);
  return {
    update: (chunk: Buffer) => void hash.update(chunk),
    /** Throws an ImportFailure with reason ChecksumError when something else was downloaded. */
    verify: () => {
      const found = hash.digest('hex');
      if (found === hex) return;
      const what = `checksum mismatch: expected ${algorithm}:${hex}, calculated ${algorithm}:${found}`;
      throw new ImportFailure(
        `Unable to process data: Unable to transfer source data to scratch space: checksum validation failed: ${what}`,
        'ChecksumError',
      );
    },
  };
}

const hexLength: Record<string, number> = { md5: 32, sha1: 40, sha256: 64, sha512: 128 };
