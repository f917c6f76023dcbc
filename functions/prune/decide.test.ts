import { expect, test } from 'vitest';
import { PersistentVolumeClaim } from '../../shared/resources/core/persistent-volume-claim.ts';
import { aDataVolume, aSnapshot, aVMDiskImage } from '../../test/builders.ts';
import { decide, type Observed } from './decide.ts';

const image = aVMDiskImage({ deleted: true, status: { phase: 'Syncing', revision: 1, attempt: 1 } });
const claim = PersistentVolumeClaim.parse({ metadata: { name: 'x', namespace: 'vmdi-farm' } });
const pass = (observed: Partial<Observed>) =>
  decide({ image, dataVolumes: [], claims: [], snapshots: [], holdsSlot: false, ...observed });

test('volumes and snapshots of a deleted image are deleted', () => {
  const actions = pass({ dataVolumes: [aDataVolume(image)], snapshots: [aSnapshot(image)], claims: [claim] });
  expect(actions.map(({ do: verb }) => verb)).toEqual(['delete', 'delete']);
});
test('the finalizer stays while a claim is left', () => {
  expect(pass({ claims: [claim] })).toEqual([]);
});
test('the finalizer stays while the image holds a slot, and the event is wanted again', () => {
  expect(pass({ holdsSlot: true })).toMatchObject([{ do: 'again' }]);
});
test('the finalizer goes when nothing is left', () => {
  expect(pass({})).toMatchObject([
    { do: 'patchMetadata', metadata: { finalizers: [] } },
    { do: 'tell', type: 'ot.pelotech.disk-image.pruned.v1' },
  ]);
});
test("another's finalizer is left alone", () => {
  const shared = aVMDiskImage({ deleted: true, finalizers: ['other/one', 'pelotech.ot/disk-image'] });
  expect(pass({ image: shared })).toMatchObject([{ metadata: { finalizers: ['other/one'] } }, {}]);
});
test('an image nobody deleted is left alone', () => {
  expect(pass({ image: aVMDiskImage(), dataVolumes: [aDataVolume(image)] })).toEqual([]);
});
