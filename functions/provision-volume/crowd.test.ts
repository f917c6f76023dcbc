import { expect, test } from 'vitest';
import { Volume } from '../../shared/kinds/kupenstack/volume.ts';
import { aCinderVolume, aVolume } from '../../test/support/builders/openstack.ts';
import { looksPerObject } from '../../test/support/harness/crowded-project.ts';
import { gather } from './gather.ts';

function looks(count: number) {
  const spec = { source: { image: 'https://images.example.com/disk.qcow2' } };
  const objects = Array.from({ length: count }, (_, index) =>
    aVolume({ name: `disk-${index}`, spec, status: { phase: 'Available' } }),
  );
  return looksPerObject(gather, {
    resource: Volume,
    objects,
    lists: { volumes: objects.map((one) => aCinderVolume(one)) },
  });
}

test('beside ten times as many volumes of a project, none is looked at more often', async () => {
  expect(await looks(100)).toBeLessThan(1.5 * (await looks(10)));
});
