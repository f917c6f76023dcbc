import { expect, test } from 'vitest';
import type { Kube } from '../../shared/runtime/kube.ts';
import { authorizer } from './authorize.ts';

/** The admission of a token with this TokenReview status. */
const admitting = (status: object) => {
  const create = async (resource: { parse(value: unknown): unknown }) => resource.parse({ status });
  return authorizer({ create } as unknown as Pick<Kube, 'create'>, () => 0)('a token');
};
const user = { username: 'teacher', groups: [] };

test('a token that the API server authenticates is its user', async () => {
  expect(await admitting({ authenticated: true, user })).toMatchObject({ name: 'teacher' });
});
test.each([
  ['is not authenticated but names a user', { authenticated: false, user }],
  ['is authenticated and names no user', { authenticated: true }],
])('a token that %s is not admitted', async (_, status) => {
  expect(await admitting(status)).toBeUndefined();
});
