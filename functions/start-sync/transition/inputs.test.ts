import { expect, test } from 'vitest';
import { at, start, theirSecret } from '../../../test/support/builders/images.ts';
import { known, only, startSyncOf, statusesIn } from '../../../test/support/harness/image-decisions.ts';
import { type Inputs, keysOf } from './inputs.ts';

const missing: Inputs = new Map([['Secret vmdi-farm/s3-reader', undefined]]);

/** What a reconcile does to one image: the phases that it writes, and after how many seconds it looks again. */
function reconcile(status: object, inputs: Inputs, spec: object = {}, afterSeconds = 0) {
  const actions = startSyncOf([known({ spec, status })], { nowMs: start + afterSeconds * 1000, inputs });
  const written = statusesIn(actions);
  return {
    phases: written.map(({ phase }) => phase),
    said: written.at(-1)?.message,
    looksAfter: only(actions, 'requeueAfter').map(({ afterMs }) => afterMs / 1000),
  };
}

const queued = { phase: 'Queued', queuedAt: at(0) } as const;
const failed = (reason: string) => ({
  phase: 'Failed',
  conditions: [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
  history: [{ time: at(0), fact: 'Failed', revision: 1, reason, message: '' }],
});

test.each<[string, Inputs, object, unknown]>([
  ['a Secret that exists', theirSecret, {}, ['Syncing']],
  ['a Secret that does not', missing, {}, ['Failed']],
  ['a Secret without a key', new Map([['Secret vmdi-farm/s3-reader', { accessKeyId: true }]]), {}, ['Failed']],
  [
    'a Secret with a line break at the end of a key',
    new Map([['Secret vmdi-farm/s3-reader', keysOf({ accessKeyId: 'a2V5', secretKey: 'c2VjcmV0Cg==' })]]),
    {},
    ['Failed'],
  ],
  ['a Secret that was not read', new Map(), {}, []],
  ['no Secret', new Map(), { secretRef: undefined, sourceType: 'http' }, ['Syncing']],
  ['a ConfigMap that was not read', theirSecret, { certConfigMap: 'ca' }, []],
  [
    'a ConfigMap that does not exist',
    new Map([...theirSecret, ['ConfigMap vmdi-farm/ca', undefined]]),
    { certConfigMap: 'ca' },
    ['Failed'],
  ],
  [
    'a ConfigMap that exists',
    new Map([...theirSecret, ['ConfigMap vmdi-farm/ca', {}]]),
    { certConfigMap: 'ca' },
    ['Syncing'],
  ],
])('an image in the queue that names %s', (_, inputs, spec, phases) => {
  expect(reconcile(queued, inputs, spec).phases).toEqual(phases);
});

test('the message says what is missing, where, and what to do', () => {
  expect(reconcile(queued, missing).said).toBe(
    'Expected Secret vmdi-farm/s3-reader (secretRef), found none. Create it with the keys accessKeyId and secretKey; the image is queued within ten minutes, or at once: kubectl annotate vmdi ubuntu -n vmdi-farm pelotech.ot/sync-requested=$(date +%s) --overwrite',
  );
});

test.each([
  [0, [15]],
  [40, [40]],
  [599, [599]],
  [600, []],
])('%d s after it failed, it is looked at again after %j s', (seconds, looksAfter) => {
  expect(reconcile(queued, missing).looksAfter).toEqual([15]);
  expect(reconcile(failed('SecretMissing'), missing, {}, seconds)).toMatchObject({ phases: [], looksAfter });
});

test.each(['SecretMissing', 'SecretInvalid', 'ConfigMapMissing'])('%s ends once what was missing exists', (reason) => {
  expect(reconcile(failed(reason), theirSecret).phases).toEqual(['Queued', 'Syncing']);
  expect(reconcile(failed(reason), new Map()).phases).toEqual([]);
});

test('another cause is gone, and the Secret is missing: that is reported instead', () => {
  expect(reconcile(failed('StorageClassMissing'), missing).phases).toEqual([]);
});
