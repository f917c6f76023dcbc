import { describe, expect, test } from 'vitest';
import {
  aCinderVolume,
  aKupenStackMachine,
  aNetwork,
  aServer,
  aVirtualNetwork,
  aVolume,
  heldBy,
} from '../../test/support/builders/openstack.ts';
import { freeDisk, type Given, observedOf } from '../../test/support/harness/provision-server.ts';
import type { Found } from './observed.ts';
import { networksOf, obstacleIn, volumesOf } from './resolve.ts';

const wordOf = (one: object | undefined) =>
  one && 'found' in one ? (one.found as { id: string }).id : (one as { reason: string } | undefined)?.reason;

describe('a name of a network', () => {
  const machine = aKupenStackMachine({ spec: { virtualNetworks: ['net'] } });
  const sibling = aVirtualNetwork({ status: { id: 'id-net', phase: 'Available', ready: true } });
  const own = aNetwork(sibling);
  const theirs = aNetwork(undefined, { name: 'net' });
  test.each<[string, Given, string]>([
    ['is that of the sibling', { networks: [sibling], nets: [own] }, 'id-net'],
    [
      "is that of the sibling even if another user's network has it",
      { networks: [sibling], nets: [theirs, own] },
      'id-net',
    ],
    ['without a sibling is that of the project', { nets: [theirs] }, 'id-by-hand'],
    ['that nothing has stands for nothing', {}, 'NetworkMissing'],
    ['that two of the project have is not unique', { nets: [theirs, { ...theirs, id: 'b' }] }, 'NetworkNotUnique'],
    [
      'of a network without subnet is not available yet',
      { nets: [{ ...theirs, subnets: [] }] },
      'NetworkWithoutSubnet',
    ],
    [
      'of a sibling that was not read is not available yet',
      { networks: [aVirtualNetwork()], nets: [own, theirs] },
      'NetworkNotReady',
    ],
    [
      'of a sibling that is not ready is not available',
      { networks: [aVirtualNetwork({ status: { id: 'id-net', phase: 'Failed', ready: false } })], nets: [own] },
      'NetworkNotReady',
    ],
    [
      'of a sibling whose network was deleted is not available',
      { networks: [sibling], nets: [theirs] },
      'NetworkNotReady',
    ],
  ])('%s', (_, given, word) => {
    const observed = observedOf({ machine, ...given });
    expect(networksOf(observed, observed.cloud as Found).map(wordOf)).toEqual([word]);
  });
  test('is looked up in the order of the spec', () => {
    const both = aKupenStackMachine({ spec: { virtualNetworks: ['b', 'a'] } });
    const nets = ['a', 'b'].map((name) => aNetwork(undefined, { name, id: `id-${name}` }));
    const observed = observedOf({ machine: both, nets });
    expect(networksOf(observed, observed.cloud as Found).map(wordOf)).toEqual(['id-b', 'id-a']);
  });
});

describe('a name of a volume', () => {
  const sibling = aVolume({ status: { id: 'id-disk', phase: 'Available', ready: true } });
  const own = aCinderVolume(sibling);
  const machine = aKupenStackMachine();
  const server = aServer(machine, {}, []);
  test.each<[string, Given, string]>([
    ['is that of the sibling', { volumes: [sibling], disks: [own, { ...freeDisk, id: 'theirs' }] }, 'id-disk'],
    ['without a sibling is that of the project', {}, 'id-disk'],
    ['that nothing has stands for nothing', { disks: [] }, 'VolumeMissing'],
    ['that two of the project have is not unique', { disks: [freeDisk, { ...freeDisk, id: 'b' }] }, 'VolumeNotUnique'],
    [
      'of a sibling that was not read is not available yet',
      { volumes: [aVolume()], disks: [freeDisk] },
      'VolumeNotReady',
    ],
    [
      'of a volume that is being created is not available yet',
      { disks: [{ ...freeDisk, status: 'creating' }] },
      'VolumeNotReady',
    ],
    ['of a failed volume is not available', { disks: [{ ...freeDisk, status: 'error' }] }, 'VolumeNotReady'],
    [
      'of a volume of another server is not available',
      { disks: [{ ...freeDisk, ...heldBy('id-other') }] },
      'VolumeInUse',
    ],
    [
      'of a volume that our server has is that volume',
      { servers: [server], disks: [{ ...freeDisk, ...heldBy('id-server') }] },
      'id-disk',
    ],
    [
      'of a volume that our server is about to get is that volume',
      { servers: [aServer(machine)], disks: [{ ...freeDisk, status: 'reserved' }] },
      'id-disk',
    ],
    [
      'of a volume that is reserved for an unknown server is not available',
      { servers: [server], disks: [{ ...freeDisk, status: 'reserved' }] },
      'VolumeNotReady',
    ],
  ])('%s', (_, given, word) => {
    const observed = observedOf({ machine, ...given });
    expect(volumesOf(observed, observed.cloud as Found).map(wordOf)).toEqual([word]);
  });
});

describe('what is in the way', () => {
  test('is nothing where all are found', () => {
    expect(obstacleIn([{ name: 'a', found: {} }])).toBeUndefined();
    expect(obstacleIn([])).toBeUndefined();
  });
  test('is reported for all in one sentence, with the reason of the first', () => {
    const missing = { name: 'b', reason: 'NetworkMissing', message: 'there is no network b' } as const;
    const second = { name: 'c', reason: 'NetworkNotReady', message: 'network c is Failed' } as const;
    expect(obstacleIn([{ name: 'a', found: {} }, missing, second])).toEqual({
      reason: 'NetworkMissing',
      message: 'Waiting: there is no network b; network c is Failed.',
    });
  });
});
