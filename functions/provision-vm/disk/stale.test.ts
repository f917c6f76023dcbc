import { describe, expect, test } from 'vitest';
import { parsePolicy } from '../../../shared/policy.ts';
import { at, aVMDiskImage } from '../../../test/support/builders/images.ts';
import { aVirtualMachine } from '../../../test/support/builders/machines.ts';
import { aReadyImage } from '../../../test/support/harness/provision-vm.ts';
import { isStale, orderOf } from './stale.ts';

const policy = parsePolicy({});

/** A machine with a disk of that revision, of which it says so. */
const withDisk = (reason: string, revision = 1, name = 'demo') =>
  aVirtualMachine({
    name,
    status: {
      rootDisk: { name: `${name}-root`, image: 'uid-ubuntu', revision },
      conditions: [{ type: 'DiskReady', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
    },
  });

describe('a machine with a disk', () => {
  test.each([
    ['that has no source, of another revision, is looked at', withDisk('CloneWithoutSource', 0), true],
    ['whose clone of another revision met an error is looked at', withDisk('CloneFailed', 0), true],
    ['that waits to be cloned from another revision is looked at', withDisk('Cloning', 0), true],
    ['that is gone while its image was not ready is looked at', withDisk('ImageNotReady'), true],
    ['that is cloned from the usable revision is left to its events', withDisk('Cloning'), false],
    ['that is of another revision and there is left alone', withDisk('Cloned', 0), false],
  ])('%s', (_, machine, lags) => {
    expect(isStale({ machine, image: aReadyImage() }, policy)).toBe(lags);
  });
  test('waits on while its image has no usable snapshot', () => {
    const image = aVMDiskImage({ status: { phase: 'Syncing' } });
    expect(isStale({ machine: withDisk('CloneWithoutSource', 0), image }, policy)).toBe(false);
  });
  test('comes after those that have none', () => {
    const waiting = [
      withDisk('Cloning', 0, 'a'),
      aVirtualMachine({ name: 'b', status: { phase: 'Failed' } }),
      aVirtualMachine({ name: 'c' }),
    ];
    const orders = waiting.map((machine) => orderOf({ machine, image: undefined })).sort();
    const names = orders.map((order) => order.split(' ').at(-1));
    expect(names).toEqual(['c', 'b', 'a']);
  });
});
