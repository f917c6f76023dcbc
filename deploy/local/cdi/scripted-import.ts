import type { ImportRequest, ImportResult } from '../importer/import-image.ts';

type Scripted = Pick<ImportRequest, 'signal' | 'scratch' | 'onBytes' | 'onConversion'>;

/** For tests: an importer that ends as scripted, after `bytes` have come. */
export const ends =
  (result: ImportResult, bytes = 100) =>
  (request: Scripted) => {
    request.onBytes?.(bytes, undefined);
    return Promise.resolve(result);
  };

export const done: ImportResult = {
  outcome: 'done',
  format: 'raw',
  bytes: 100,
  virtualSizeBytes: 100,
  digest: 'sha256:',
};

export const failed = (message: string, reason: 'Error' | 'ChecksumError' = 'Error'): ImportResult => ({
  outcome: 'failed',
  reason,
  message,
  bytes: 100,
});

/** As a qcow2 image from S3: it needs scratch space first, then it is converted. */
export const qcow2 = (request: Scripted): Promise<ImportResult> =>
  Promise.resolve(request.scratch ? { ...done, format: 'qcow2' } : { outcome: 'scratch-required', format: 'qcow2' });

/** An importer that never ends by itself and says how many of its kind are running. */
export function endless() {
  const state = { running: 0, started: 0 };
  const importImage = (request: Scripted) => {
    state.running++;
    state.started++;
    request.onBytes?.(10, 100);
    return new Promise<ImportResult>((_, reject) => {
      request.signal.addEventListener('abort', () => {
        state.running--;
        reject(request.signal.reason);
      });
    });
  };
  return { state, importImage };
}
