import { expect, test } from 'vitest';
import { contentDigest } from '../../shared/images/content-digest.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { aLease, at, aVMDiskImage, start, theirSecret } from '../../test/support/builders/images.ts';
import { decide, split } from './decide.ts';
import type { Inputs } from './inputs.ts';

const classes = { storage: new Map([['gp3', 'ebs']]), snapshot: new Map([['ebs-snapshot', 'ebs']]) };
const missing: Inputs = new Map([['Secret vmdi-farm/s3-reader', undefined]]);

/** What a pass does to one image: the phases that it writes, and after how many seconds it looks again. */
function pass(status: object, inputs: Inputs, spec: object = {}, afterSeconds = 0) {
  const image = aVMDiskImage({
    spec,
    status: { revision: 1, attempt: 0, contentDigest: contentDigest(aVMDiskImage({ spec })), ...status },
  });
  const actions = split({
    nowMs: start + afterSeconds * 1000,
    policy: parsePolicy({ data: {} }),
    policyMap: undefined,
    lease: aLease([]),
    images: [image],
    unfinished: [image],
    ...{ dataVolumes: [], pods: [], claims: [], snapshots: [], refusals: new Map() },
    classes,
    inputs,
    isAudit: false,
    gracePeriodMs: 0,
  }).flatMap(decide);
  const written = actions.flatMap((action) => (action.do === 'patchStatus' ? [action.status] : []));
  return {
    phases: written.map(({ phase }) => phase),
    said: written.at(-1)?.message,
    looksAfter: actions.flatMap((action) => (action.do === 'requeueAfter' ? [action.afterMs / 1000] : [])),
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
  ['a Secret without a key', new Map([['Secret vmdi-farm/s3-reader', ['accessKeyId']]]), {}, ['Failed']],
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
    new Map([...theirSecret, ['ConfigMap vmdi-farm/ca', []]]),
    { certConfigMap: 'ca' },
    ['Syncing'],
  ],
])('an image in the queue that names %s', (_, inputs, spec, phases) => {
  expect(pass(queued, inputs, spec).phases).toEqual(phases);
});

test('the message says what is missing, where, and what to do', () => {
  expect(pass(queued, missing).said).toBe(
    'Expected Secret vmdi-farm/s3-reader (secretRef), found none. Create it with the keys accessKeyId and secretKey; the image is queued then.',
  );
});

test.each([
  [0, [15]],
  [40, [40]],
  [599, [599]],
  [600, []],
])('%d s after it failed, it is looked at again after %j s', (seconds, looksAfter) => {
  expect(pass(queued, missing).looksAfter).toEqual([15]);
  expect(pass(failed('SecretMissing'), missing, {}, seconds)).toMatchObject({ phases: [], looksAfter });
});

test.each(['SecretMissing', 'SecretInvalid', 'ConfigMapMissing'])('%s ends once what was missing exists', (reason) => {
  expect(pass(failed(reason), theirSecret).phases).toEqual(['Queued', 'Syncing']);
  expect(pass(failed(reason), new Map()).phases).toEqual([]);
});

test('another cause is gone, and the Secret is missing: that is reported instead', () => {
  expect(pass(failed('StorageClassMissing'), missing).phases).toEqual([]);
});
