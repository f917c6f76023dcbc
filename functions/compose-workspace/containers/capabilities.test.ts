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

test('the one capability that opens nothing beyond its own Pod may be added', () => {
  expect(judged(['NET_BIND_SERVICE'])).toBeUndefined();
});

test('a capability that opens more is not allowed unless an admin allows it', () => {
  expect(judged(['NET_BIND_SERVICE', 'SYS_ADMIN', 'ALL'])).toMatchObject({
    phase: 'Failed',
    reason: 'CapabilityNotAllowed',
    message: expect.stringContaining('found SYS_ADMIN, ALL;'),
  });
  expect(judged(['SYS_ADMIN'], { workspaceCapabilities: 'SYS_ADMIN' })).toBeUndefined();
  expect(judged(['ALL'], { workspaceCapabilities: '*' })).toBeUndefined();
});

test('while the list does not parse nothing begins', () => {
  expect(judged(['NET_RAW'], { workspaceCapabilities: ' ' })).toMatchObject({ phase: 'Waiting' });
});
