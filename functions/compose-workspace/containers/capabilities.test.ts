import { expect, test } from 'vitest';
import { parsePolicy } from '../../../shared/policy.ts';
import { aClusterOf } from '../../../test/support/builders/workspaces.ts';
import { beyondCapabilities } from './capabilities.ts';

const judged = (add: string[], data: Record<string, string> = {}) => {
  const [container] = aClusterOf().containers;
  if (!container) throw new Error('expected a container');
  return beyondCapabilities(
    aClusterOf({ containers: [{ ...container, capabilities: { add } }] }),
    parsePolicy({ data }),
  );
};

test('what a lab needs of its own network may be added', () => {
  expect(judged(['NET_ADMIN', 'NET_RAW', 'NET_BIND_SERVICE'])).toBeUndefined();
});

test('a capability that opens the node is not allowed unless an admin allows it', () => {
  expect(judged(['NET_RAW', 'SYS_ADMIN', 'ALL'])).toMatchObject({
    phase: 'Failed',
    reason: 'CapabilityNotAllowed',
    message: expect.stringContaining('found SYS_ADMIN, ALL;'),
  });
  expect(judged(['SYS_ADMIN'], { containerCapabilities: 'SYS_ADMIN' })).toBeUndefined();
  expect(judged(['ALL'], { containerCapabilities: '*' })).toBeUndefined();
});

test('while the list does not parse nothing begins', () => {
  expect(judged(['NET_RAW'], { containerCapabilities: ' ' })).toMatchObject({ phase: 'Waiting' });
});
