import { describe, expect, test } from 'vitest';
import { credentialsFinalizer } from '../../shared/kinds/kupenstack/condition.ts';
import { aCredentialsSecret, type SecretOptions } from '../../test/support/builders/openstack.ts';
import { decide } from './decide.ts';

const reconcile = (isNeeded: boolean, options: SecretOptions) =>
  decide({ secret: aCredentialsSecret('x', options), isNeeded });

describe('the credentials of a namespace', () => {
  test.each<[string, boolean, SecretOptions, string[] | undefined]>([
    ['are kept once something needs them', true, { finalizers: [] }, [credentialsFinalizer]],
    ["are kept beside another's finalizer", true, { finalizers: ['other/one'] }, ['other/one', credentialsFinalizer]],
    ['that are kept are left alone', true, {}, undefined],
    ['that are deleted stay as long as something needs them', true, { deleted: true }, undefined],
    ['that are going take no more finalizers', true, { deleted: true, finalizers: ['other/one'] }, undefined],
    ['are let go once nothing needs them', false, {}, []],
    [
      "are let go and leave another's finalizer",
      false,
      { finalizers: [credentialsFinalizer, 'other/one'] },
      ['other/one'],
    ],
    ['that are deleted go once nothing needs them', false, { deleted: true }, []],
    ['that nothing needs are left alone', false, { finalizers: [] }, undefined],
  ])('%s', (_, isNeeded, options, finalizers) => {
    const found = reconcile(isNeeded, options);
    if (finalizers === undefined) expect(found).toEqual([]);
    else expect(found).toMatchObject([{ do: 'patchMetadata', metadata: { finalizers } }]);
  });
  test('are in no action', () => {
    const secret = aCredentialsSecret('password: hunter2', { finalizers: [] });
    expect(JSON.stringify(decide({ secret, isNeeded: true }))).not.toContain(secret.data?.['clouds.yaml']);
  });
});
