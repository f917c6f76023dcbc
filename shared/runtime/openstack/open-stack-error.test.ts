import { describe, expect, test } from 'vitest';
import { OpenStackError } from './open-stack-error.ts';

const request = { service: 'compute', operation: 'createServer' };
const errorOf = (status: number, body: unknown, retryAfter: string | null = null) =>
  new OpenStackError(request, {
    status,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    requestId: 'req-1',
    retryAfter,
  });

describe('what a service says', () => {
  test.each<[string, unknown, string]>([
    ['Nova', { badRequest: { code: 400, message: 'Invalid flavor.' } }, 'Invalid flavor.'],
    ['Cinder', { overLimit: { code: 413, message: 'Too many volumes.', retryAfter: '0' } }, 'Too many volumes.'],
    ['Neutron', { NeutronError: { type: 'SubnetInUse', message: 'In use.', detail: '' } }, 'In use.'],
    ['Keystone', { error: { code: 401, title: 'Unauthorized', message: 'Sign in.' } }, 'Sign in.'],
    ['Glance', { code: 403, title: 'Forbidden', message: 'Not yours.' }, 'Not yours.'],
    ['a proxy', '<html><h1>502 Bad Gateway</h1></html>', 'HTTP 400'],
    ['a server without a message', '', 'HTTP 400'],
    ['JSON that is no object', '"no"', 'HTTP 400'],
    ['nothing that is a text', { badRequest: { message: { a: 1 } } }, 'HTTP 400'],
    ['several lines', { error: { message: 'One\n  two.\r\n' } }, 'One two.'],
  ])('by %s is its message', (_, body, message) => {
    expect(errorOf(400, body)).toMatchObject({
      message,
      service: 'compute',
      operation: 'createServer',
      requestId: 'req-1',
    });
  });
  test('is cut short', () => {
    expect(errorOf(400, { error: { message: 'x'.repeat(9000) } }).message).toHaveLength(500);
  });
});

describe('a refusal', () => {
  const neutron = (type: string) => ({ NeutronError: { type, message: 'why', detail: '' } });
  test.each<[number, unknown, string | undefined]>([
    [400, {}, 'Refused'],
    [401, {}, 'Unauthorized'],
    [403, { forbidden: { message: "Policy doesn't allow it" } }, 'Forbidden'],
    [403, { forbidden: { message: 'Quota exceeded for instances: Requested 1' } }, 'QuotaExceeded'],
    [404, {}, 'NotFound'],
    [409, { conflictingRequest: { message: 'locked' } }, 'Conflict'],
    [409, neutron('NetworkInUse'), 'Conflict'],
    [409, neutron('OverQuota'), 'QuotaExceeded'],
    [413, { overLimit: { message: 'x' } }, 'QuotaExceeded'],
    [422, {}, 'Refused'],
    [429, {}, undefined],
    [500, {}, undefined],
    [503, neutron('OverQuota'), undefined],
  ])('of %i %j is %s', (status, body, reason) => {
    expect(errorOf(status, body).refusal).toBe(reason);
  });
});

test.each([
  ['30', 30_000],
  [null, undefined],
  ['Wed, 21 Oct 2026 07:28:00 GMT', undefined],
  ['-1', undefined],
])('a Retry-After of %s is %s milliseconds', (header, milliseconds) => {
  expect(errorOf(429, '', header).retryAfterMs).toBe(milliseconds);
});
