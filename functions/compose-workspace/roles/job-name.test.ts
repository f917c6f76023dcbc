import { describe, expect, test } from 'vitest';
import { aVm, aWorkspace } from '../../../test/support/builders/roles.ts';
import { jobName } from './job-name.ts';

const router = aVm({ deploy: [{ role: 'linuxRouter', variables: { nat: { out: 1, in: 2 }, mode: 'a' } }] });
const nameOf = (vm = router, uid = 'uid-1', annotations?: Record<string, string>) =>
  jobName(aWorkspace([vm], annotations), vm, uid);
const withDeploy = (...deploy: { role: string; variables?: Record<string, unknown> }[]) => aVm({ deploy });

describe('a machine is deployed once more', () => {
  test.each([
    ['under another role', nameOf(withDeploy({ role: 'other', variables: { nat: { out: 1, in: 2 }, mode: 'a' } }))],
    [
      'under another value',
      nameOf(withDeploy({ role: 'linuxRouter', variables: { nat: { out: 2, in: 2 }, mode: 'a' } })),
    ],
    ['recreated', nameOf(router, 'uid-2')],
    ['when asked', nameOf(router, 'uid-1', { 'pelotech.ot/roles-requested': 'now' })],
  ])('%s', (_, name) => {
    expect(name).not.toBe(nameOf());
  });
  test('with its roles in another order', () => {
    expect(nameOf(withDeploy({ role: 'a' }, { role: 'b' }))).not.toBe(nameOf(withDeploy({ role: 'b' }, { role: 'a' })));
  });
});

describe('and by nothing else', () => {
  test.each([
    ['another version', nameOf({ ...router, version: '3' })],
    ['another address', nameOf({ ...router, interfaces: [] })],
    [
      'other build roles',
      nameOf({ ...router, ansible: { roles: { ...router.ansible?.roles, build: [{ role: 'x' }] } } }),
    ],
    [
      'its variables in another order',
      nameOf(withDeploy({ role: 'linuxRouter', variables: { mode: 'a', nat: { in: 2, out: 1 } } })),
    ],
  ])('%s', (_, name) => {
    expect(name).toBe(nameOf());
  });
  test('no variables and none at all are the same', () => {
    expect(nameOf(withDeploy({ role: 'a', variables: {} }))).toBe(nameOf(withDeploy({ role: 'a' })));
  });
});

test.each(['demo-vm', 'x'.repeat(63), `${'x'.repeat(45)}-yyy`])('%s has a Job with a legal name', (name) => {
  expect(nameOf({ ...router, name })).toMatch(/^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])-roles-[0-9a-f]{10}$/);
});
