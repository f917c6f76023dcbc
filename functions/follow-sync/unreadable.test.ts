import { expect, test } from 'vitest';
import type { Subject } from '../../shared/function.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { VolumeSnapshot } from '../../shared/kinds/snapshot/volume-snapshot.ts';
import { ApiError } from '../../shared/runtime/errors.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { aVMDiskImage, start } from '../../test/support/builders/images.ts';
import { memoryKube } from '../../test/support/harness/memory-kube.ts';
import { reconcileOnce } from '../../test/support/harness/reconcile-once.ts';
import declaration from './index.ts';

const subjectOf = (name: string): Subject => ({
  apiVersion: VMDiskImage.apiVersion,
  kind: VMDiskImage.kind,
  namespace: 'vmdi-farm',
  name,
});

test.each([
  ['snapshot', VolumeSnapshot.kind, 'gone-a', 403],
  ['snapshot', VolumeSnapshot.kind, 'gone-a', 500],
  ['image', VMDiskImage.kind, 'a', 500],
])(
  'an image whose %s cannot be read fails no other, and its event alone is redelivered',
  async (_, kind, refused, code) => {
    const memory = memoryKube();
    for (const name of ['a', 'b']) {
      const image = aVMDiskImage({
        name,
        status: { phase: 'Succeeded', snapshot: { name: `gone-${name}`, revision: 1 } },
      });
      await memory.create(VMDiskImage, image);
    }
    const kube: Kube = {
      ...memory,
      // The images are at rest: no list of those under way has them.
      list: async (resource, options) => (options?.fieldSelector ? [] : memory.list(resource, options)),
      get: async (resource, ref) => {
        if (resource.kind === kind && ref.name === refused) throw new ApiError(code, 'Refused', 'out of order');
        return memory.get(resource, ref);
      },
    };
    const batch = { subjects: [subjectOf('a'), subjectOf('b')], messages: [], sweep: false, audit: false };
    const verdict = await reconcileOnce(declaration, { kube, batch, now: () => start });
    expect(await verdict({ ...batch, subjects: [subjectOf('a')] })).toMatchObject({ message: 'out of order' });
    expect(await verdict({ ...batch, subjects: [subjectOf('b')] })).toBeUndefined();
    const lost = (await memory.list(VMDiskImage)).filter(({ status }) => status?.conditions !== undefined);
    expect(lost.map(({ metadata }) => metadata.name)).toEqual(['b']);
  },
);
