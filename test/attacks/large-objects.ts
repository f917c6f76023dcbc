import { expect } from 'vitest';
import { VirtualMachine } from '../../shared/kinds/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { Workspace } from '../../shared/kinds/pelotech/workspace.ts';
import type { Kube } from '../../shared/runtime/kube.ts';
import { createMachine } from '../stories/machines.ts';
import { aVMDiskImage } from '../support/builders/images.ts';
import { aMachineOf } from '../support/builders/workspaces.ts';
import { type Attack, invalid } from './attack.ts';
import { author, authorOfLabs } from './rights-of-authors.ts';

const key = (characters: number) => `ssh-ed25519 ${'x'.repeat(characters - 12)}`;
const usersWith = (count: number, keys: readonly string[]) =>
  Array.from({ length: count }, (_, index) => ({ name: `u${index}`, ssh_authorized_keys: [...keys] }));
const manyKeys = (characters: number) => Array.from({ length: 20 }, () => key(characters));
const interfacesWith = (count: number, each: number) =>
  Array.from({ length: count }, (_, index) => ({
    network: `n${index}`,
    routes: Array.from({ length: each }, () => ({ to: '10.1.0.0/16', via: '10.0.0.1' })),
  }));
const { namespace } = author;
const create = (kube: Kube, name: string, spec: object) => createMachine({ kube, namespace }, name, 'any', spec);

/** Fifty such objects, of 3.5 MB each in memory, ended each function that lists machines. */
const gains = 'the memory of all functions that list them';

export const attacks: readonly Attack[] = [
  {
    name: 'an author makes a machine of a megabyte',
    gains,
    run: async ({ as }) => {
      const mallory = await as(author);
      await expect(create(mallory, 'large', { users: usersWith(7, manyKeys(8000)) })).rejects.toMatchObject(invalid);
      await expect(create(mallory, 'routed', { interfaces: interfacesWith(16, 32) })).rejects.toMatchObject(invalid);
      const made = await mallory.list(VirtualMachine, { namespace });
      expect(made.map(({ metadata }) => metadata.name)).not.toContain('large');
    },
  },
  {
    name: 'an author makes a lab of such machines',
    gains,
    run: async ({ as }) => {
      const vms = [{ ...aMachineOf(), users: usersWith(7, manyKeys(8000)) }];
      const lab = { metadata: { name: 'large' }, spec: { vms } };
      await expect((await as(authorOfLabs)).create(Workspace, lab)).rejects.toMatchObject(invalid);
    },
  },
  {
    name: 'an author makes an image with an endless URL',
    gains,
    run: async ({ as }) => {
      const spec = { ...aVMDiskImage().spec, url: `https://s3.example.com/${'x'.repeat(4000)}` };
      const image = { metadata: { name: 'large', namespace }, spec };
      await expect((await as(author)).create(VMDiskImage, image)).rejects.toMatchObject(invalid);
    },
  },
  {
    name: 'an author lets a machine grow by an edit',
    gains,
    run: async ({ as }) => {
      const mallory = await as(author);
      const { metadata } = await create(mallory, 'grows', {});
      const spec = { users: usersWith(7, manyKeys(8000)) };
      await expect(mallory.patch(VirtualMachine, metadata, { spec })).rejects.toMatchObject(invalid);
    },
  },
  {
    name: 'the keys of a whole team, many logins and the routes of a network are not refused',
    gains: 'nothing: they are what a machine may need',
    run: async ({ as }) => {
      const mallory = await as(author);
      await create(mallory, 'team', { users: usersWith(1, manyKeys(800)) });
      await create(mallory, 'class', { users: usersWith(50, [key(100)]) });
      await create(mallory, 'router', { interfaces: interfacesWith(2, 32) });
    },
  },
];
