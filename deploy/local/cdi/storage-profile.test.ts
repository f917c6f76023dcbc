import { describe, expect, test } from 'vitest';
import { readScenario, scenarioNames } from '../../../test/proofs/replay/scenarios.ts';
import { DataVolume, StorageClass } from '../controller/kinds.ts';
import { bytesOf } from '../controller/quantity.ts';
import { defaultStorageProfiles, renderClaimSpec } from './storage-profile.ts';

const gp3 = StorageClass.parse({ metadata: { name: 'gp3' }, provisioner: 'ebs.csi.aws.com' });
const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
const byDefault = StorageClass.parse({
  metadata: { name: 'usual', annotations: isDefault },
  provisioner: 'ebs.csi.aws.com',
});
const foreign = StorageClass.parse({ metadata: { name: 'nfs' }, provisioner: 'nfs.csi.k8s.io' });

const render = (spec: object, profiles = defaultStorageProfiles) =>
  renderClaimSpec(DataVolume.parse({ metadata: { name: 'lab' }, spec }), [gp3, byDefault, foreign], profiles);

const size = (storage: string) => ({ resources: { requests: { storage } } });

describe('a storage stanza', () => {
  test('gets access modes and volume mode from the profile of the driver, its size untouched', () => {
    expect(render({ storage: { storageClassName: 'gp3', ...size('24Gi') } })).toMatchObject({
      spec: {
        accessModes: ['ReadWriteOnce'],
        volumeMode: 'Block',
        storageClassName: 'gp3',
        ...size(String(24 * 1024 ** 3)),
      },
    });
  });

  test('without a class gets the default one', () => {
    expect(render({ storage: size('1Gi') })).toMatchObject({ spec: { storageClassName: 'usual' } });
  });

  test('for a file system is made larger by what the file system takes', () => {
    expect(render({ storage: { storageClassName: 'gp3', volumeMode: 'Filesystem', ...size('100Mi') } })).toMatchObject({
      spec: size(String(106 * 1024 ** 2)),
    });
  });

  test('is raised to the smallest volume the driver makes', () => {
    const profiles = {
      'ebs.csi.aws.com': { accessModes: ['ReadWriteOnce'], volumeMode: 'Block' as const, minimumBytes: 1024 ** 3 },
    };
    expect(render({ storage: { storageClassName: 'gp3', ...size('20Mi') } }, profiles)).toMatchObject({
      spec: size(String(1024 ** 3)),
    });
  });

  test('of a class that does not exist, or of a driver without profile, cannot be completed', () => {
    const missing = 'PVC spec is missing accessMode and no storageClass to choose profile';
    expect(render({ storage: { storageClassName: 'fast', ...size('1Gi') } })).toEqual({ refused: missing });
    const unknown = 'no accessMode specified in StorageProfile nfs';
    const event = 'Spec is missing accessMode and volumeMode, cannot get access mode from StorageProfile nfs';
    expect(render({ storage: { storageClassName: 'nfs', ...size('1Gi') } })).toEqual({ refused: unknown, event });
  });
});

describe('each claim of real CDI has the same size here', () => {
  test.each(scenarioNames())('%s', (scenario) => {
    const objects = readScenario(scenario)
      .filter(({ type }) => type === 'ADDED')
      .map(({ object }) => object as typeof object & { spec?: Filled });
    const volumes = objects.filter(({ kind, spec }) => kind === 'DataVolume' && sizeOf(spec?.storage) !== undefined);
    for (const { metadata, spec } of volumes) {
      const claim = objects.find(
        (one) =>
          one.kind === 'PersistentVolumeClaim' &&
          one.metadata.name === metadata.name &&
          one.metadata.ownerReferences?.some(({ uid }) => uid === metadata.uid),
      );
      if (!claim?.spec) continue;
      const { volumeMode } = claim.spec;
      const found = render({ storage: { storageClassName: 'gp3', volumeMode, ...size(sizeOf(spec?.storage) ?? '') } });
      expect('spec' in found && bytesOf(sizeOf(found.spec) ?? '')).toBe(bytesOf(sizeOf(claim.spec) ?? ''));
    }
  });
});

interface Sized {
  resources?: { requests?: { storage?: string | undefined } | undefined } | undefined;
}
type Filled = Sized & { storage?: Sized; volumeMode?: string };
const sizeOf = (stanza: Sized | undefined) => stanza?.resources?.requests?.storage;

test('a pvc stanza stays as it is', () => {
  const pvc = { accessModes: ['ReadWriteOnce'], storageClassName: 'fast', ...size('24Gi') };
  expect(render({ pvc })).toEqual({ spec: pvc });
});
