import { expect, test } from 'vitest';
import { machineLives } from '../../test/support/harness/server-crashes.ts';

test.each([
  ['a resize', { vcpu: 2 }, { servers: [{ vcpus: 2 }], flavors: ['kup-2c-64m-0s'] }],
  ['a stop', { running: false }, { servers: [{ status: 'SHUTOFF' }] }],
  ['another network', { virtualNetworks: ['net-b'] }, { ports: ['name-net-b'] }],
  ['another disk', { diskAttachments: [{ name: 'disk' }, { name: 'data' }] }, { servers: [{ status: 'ACTIVE' }] }],
])(
  'a crash after any write of %s, and another process, come to the same end',
  async (_, change, end) => {
    const { whole, lives } = await machineLives([change]);
    expect(whole?.[1]).toMatchObject(end);
    expect(lives).toBeGreaterThanOrEqual(18);
  },
  60_000,
);
