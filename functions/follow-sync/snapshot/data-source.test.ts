import { expect, test } from 'vitest';
import type { DataSource } from '../../../shared/kinds/cdi/data-source.ts';
import type { VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at, aVMDiskImage } from '../../../test/support/builders/images.ts';
import type { Observed } from '../observed.ts';
import { offering } from './data-source.ts';

const ready: VMDiskImageStatus = { phase: 'Succeeded', revision: 1, snapshot: { name: 'ubuntu-r1', revision: 1 } };
const labels = { 'instancetype.kubevirt.io/default-instancetype': 'u1.small', team: 'labs' };
const image = (status: VMDiskImageStatus) => aVMDiskImage({ status, labels });

const source = (snapshot: string, owner: string): DataSource => ({
  apiVersion: 'cdi.kubevirt.io/v1beta1',
  kind: 'DataSource',
  metadata: {
    name: 'ubuntu',
    namespace: 'vmdi-farm',
    uid: 'source-1',
    resourceVersion: '1',
    generation: 1,
    creationTimestamp: at(0),
    ownerReferences: [{ apiVersion: 'pelotech.ot/v1alpha1', kind: 'VMDiskImage', name: 'ubuntu', uid: owner }],
  },
  spec: { source: { snapshot: { namespace: 'vmdi-farm', name: snapshot } } },
});

const decided = (status: VMDiskImageStatus, dataSource: Observed['dataSource'], next?: VMDiskImageStatus) => {
  const of = image(status);
  const step = next ? [{ do: 'patchStatus', resource: {}, of, status: next } as never] : [];
  return offering({ image: of, dataSource } as Observed, step);
};
const own = image(ready).metadata.uid;

test.each([
  ['the policy does not ask for it', ready, undefined, undefined, undefined],
  ['nothing can be cloned yet', { phase: 'Snapshotting', revision: 1 }, { found: undefined }, undefined, undefined],
  ['it is missing', ready, { found: undefined }, undefined, 'ubuntu-r1'],
  ['the image becomes Ready', { phase: 'Snapshotting', revision: 1 }, { found: undefined }, ready, 'ubuntu-r1'],
  ['it names the snapshot', ready, { found: source('ubuntu-r1', own) }, undefined, undefined],
  ['another revision is used', ready, { found: source('ubuntu-r2', own) }, undefined, 'ubuntu-r1'],
] as const)('%s', (_, status, dataSource, next, expected) => {
  const [action, ...more] = decided(status, dataSource, next);
  expect(more).toEqual([]);
  if (expected === undefined) return expect(action).toBeUndefined();
  expect(action).toMatchObject({
    do: 'apply',
    object: {
      metadata: {
        namespace: 'vmdi-farm',
        name: 'ubuntu',
        labels: { 'instancetype.kubevirt.io/default-instancetype': 'u1.small' },
        ownerReferences: [{ uid: own }],
      },
      spec: { source: { snapshot: { namespace: 'vmdi-farm', name: expected } } },
    },
  });
  expect(JSON.stringify(action)).not.toContain('team');
});

test("another's of that name is left alone, and reported", () => {
  const actions = decided(ready, { found: source('golden', 'another') });
  expect(actions).toMatchObject([{ do: 'recordEvent', type: 'Warning', reason: 'NameTaken', once: 'source-1' }]);
});
