import { expect } from 'vitest';
import { DataVolume } from '../../shared/kinds/cdi/data-volume.ts';
import { machineUidLabel, VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { putImage } from './images.ts';
import { createMachine, templateOf, untilMachine } from './machines.ts';
import { type Story, until, type World } from './world.ts';

/** What goes wrong while the machines start. */
export interface ScaleOptions {
  /** A fault, injected `times` times at equal distances; `time` counts from 1. */
  fault?: { times: number; inject(time: number): Promise<void> };
  local?: Story['local'];
  /** How long a machine may take if all the others start before it. */
  withinMs: number;
}

const images = Array.from({ length: 20 }, (_, index) => `image-${String(index).padStart(2, '0')}`);
const machines = Array.from({ length: 200 }, (_, index) => ({
  name: `vm-${String(index).padStart(3, '0')}`,
  image: images[index % images.length] ?? '',
}));

/**
 * Two hundred machines are created at once, on twenty missing images: all get ready, each image is downloaded once and counts
 * its ten machines, each machine has one disk.
 */
export const manyMachines = (name: string, { fault, local, withinMs }: ScaleOptions): Story => ({
  name,
  policy: { concurrency: '4', retryBackoffDuration: '1s' },
  ...(local ? { local } : {}),
  run: async (world) => {
    await putImage(world, 'one');
    const url = `${world.store.url}/images/one.qcow2`;
    await Promise.all(
      machines.map(({ name, image }) =>
        createMachine(world, name, image, { vmDiskImageTemplate: { ...templateOf(world, image), url } }),
      ),
    );
    const { times = 0, inject } = fault ?? {};
    for (let time = 1; time <= times; time++) {
      await readyAtLeast(world, Math.floor((machines.length * time) / (times + 1)), withinMs);
      await inject?.(time);
    }
    await readyAtLeast(world, machines.length, withinMs);

    for (const image of images) {
      const ref = { namespace: world.namespace, name: image };
      await until(world, VMDiskImage, ref, (found) => found?.status?.references?.count === 10, withinMs);
    }
    expect(await world.kube.list(VMDiskImage, { namespace: world.namespace })).toHaveLength(images.length);
    const downloads = world.history.starts().map(({ image }) => image);
    expect(downloads.sort()).toEqual(images);
    const disks = await world.kube.list(DataVolume, { namespace: world.namespace, labelSelector: machineUidLabel });
    const made = await world.kube.list(VirtualMachine, { namespace: world.namespace });
    const owners = disks.map(({ metadata }) => metadata.labels?.[machineUidLabel]).sort();
    expect(owners).toEqual(made.map(({ metadata }) => metadata.uid).sort());
  },
});

async function readyAtLeast(world: World, count: number, withinMs: number): Promise<void> {
  for (const { name } of machines.slice(0, count)) await untilMachine(world, name, 'Ready', withinMs);
}
