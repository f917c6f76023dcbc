import { expect, test } from 'vitest';
import type { Kube } from '../../shared/runtime/kube.ts';
import { admission } from './admit.ts';

/** Admits whoever the API server says this of. */
const admitting = (status: object) => {
  const create = async (resource: { parse(value: unknown): unknown }) => resource.parse({ status });
  return admission({ create } as unknown as Pick<Kube, 'create'>, () => 0)('a token');
};
const user = { username: 'teacher', groups: [] };

test('a token that the API server authenticates is its user', async () => {
  expect(await admitting({ authenticated: true, user })).toMatchObject({ name: 'teacher' });
});
test.each([
  ['is not authenticated, whoever it names', { authenticated: false, user }],
  ['is authenticated and names no user', { authenticated: true }],
])('nobody is admitted whose token %s', async (_, status) => {
  expect(await admitting(status)).toBeUndefined();
});
