import { describe, expect, test } from 'vitest';
import { aVMDiskImage } from '../../test/support/builders/images.ts';
import { createdBy, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../policy.ts';
import { downloadOf, isOfPolicy, missingLine, redactUrl } from './sources.ts';

const line = 'https://s3.example.com/vm-images/** s3-reader';
const url = 'https://s3.example.com/vm-images/debian.qcow2';
const policyOf = (allowedSources: string | undefined, more = {}) =>
  parsePolicy({ data: { ...(allowedSources === undefined ? {} : { allowedSources }), ...more } });

/** The refusal of an image of that namespace, created by that function or by an admin. */
function refusal(
  lines: string | undefined,
  spec: Partial<VMDiskImage['spec']>,
  { namespace = 'vmdi-farm', by = '' } = {},
) {
  const labels: Record<string, string> = by === '' ? {} : { [createdBy]: by };
  return missingLine(policyOf(lines), downloadOf(aVMDiskImage({ namespace, labels, spec })))?.message;
}

describe('an image created in an image namespace', () => {
  test('needs no line', () => {
    expect(refusal(undefined, { url })).toBeUndefined();
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://127.0.0.1:8080/k/v',
    'http://2130706433/k/v',
    'http://0x7f.1/k/v',
    'http://[::1]/k/v',
    'http://[::ffff:10.0.0.1]/k/v',
    'http://[fe80::1]/k/v',
    'http://10.0.0.1/k/v',
    'http://localhost/k/v',
    'http://kubernetes/k/v',
    'http://kubernetes.default.svc/k/v',
    'http://minio.store.svc.cluster.local./k/v',
    'docker://2130706433/k/v',
    'docker://metadata.google.internal/k/v',
  ])('has no address within the cluster: %s', (inside) => {
    expect(refusal(undefined, { url: inside, sourceType: 'http' })).toContain('its address is not a public one');
  });

  test.each(['http://1.2.3/k/v', 'http://8.8.8.8./k/v', 'http://[2001:4860::8888]/k/v', 'http://.../k/v'])(
    'may be at any other: %s',
    (outside) => {
      expect(refusal(undefined, { url: outside, sourceType: 'http' })).toBeUndefined();
    },
  );

  test('names a line for another port or scheme of its host', () => {
    const local = { url: 'http://127.0.0.1:18081/images/ubuntu.qcow2', sourceType: 'http' } as const;
    expect(refusal('http://127.0.0.1:9000/images/** s3-reader', local)).toContain(
      'found one for another port or scheme, http://127.0.0.1:9000/images/**; correct url, or, if',
    );
    expect(refusal('https://127.0.0.1/images/**', local)).toContain('scheme, https://127.0.0.1/images/**;');
    expect(refusal('http://127.0.0.1:9000/other/**\nhttp://127.0.0.2:18081/images/**', local)).toContain('found none;');
  });

  test('has one that a line names', () => {
    expect(refusal('http://10.0.0.1:9000/**', { url: 'http://10.0.0.1:9000/k/v' })).toBeUndefined();
  });
});

describe.each([
  ['a template', { by: 'ensure-vmdi' }],
  ['a workspace', { by: 'compose-workspace' }],
  ['a publication', { by: 'preload' }],
  ['another namespace', { namespace: 'tenant-a' }],
])('what %s asks for', (_, of) => {
  test('is refused without a line, and names the line', () => {
    expect(refusal(undefined, { url, sourceType: 'http' }, of)).toContain(
      'add the line "https://s3.example.com/vm-images/**',
    );
  });

  test('is refused where the line is another', () => {
    expect(refusal('https://s3.example.com/other/**', { url }, of)).toContain('found none;');
  });

  test('is allowed by a line that names the Secret', () => {
    expect(refusal(line, { url }, of)).toBeUndefined();
  });
});

test('a Secret of an image namespace goes only where its own line says', () => {
  const asked = { by: 'ensure-vmdi' };
  expect(refusal('https://s3.example.com/vm-images/**', { url }, asked)).toContain(
    `found none that names Secret s3-reader; if it may be downloaded, add the line "${line}"`,
  );
  expect(refusal(line, { url, secretRef: 'admin-keys' }, asked)).toContain('Secret admin-keys');
  expect(refusal(line, { url: 'https://s3.example.com/payroll/db.qcow2' }, asked)).toContain('found none;');
});

test("an author's own Secret stays in the author's own namespace", () => {
  const own = { namespace: 'tenant-a' };
  expect(refusal('https://s3.example.com/vm-images/**', { url, secretRef: 'mine' }, own)).toBeUndefined();
});

test('imageUrlTemplate and imageSecretRef are a line', () => {
  const policy = policyOf(undefined, {
    imageUrlTemplate: 'https://s3.example.com/vm-images/{name}-{version}.qcow2',
    imageSecretRef: 's3-reader',
  });
  const asked = (of: string, secretRef = 's3-reader') =>
    missingLine(policy, { namespace: 'vmdi-farm', spec: { url: of, secretRef }, isAskedFor: true })?.message;
  expect(asked('https://s3.example.com/vm-images/debian-12.qcow2')).toBeUndefined();
  expect(asked('https://s3.example.com/vm-images/debian-12.qcow2', 'admin-keys')).toContain('admin-keys');
  expect(asked('https://s3.example.com/vm-images/old/debian-12.qcow2')).toContain('found none;');
  const image = (name: string) =>
    aVMDiskImage({ name, spec: { url: 'https://s3.example.com/vm-images/debian-12.qcow2' } });
  expect([isOfPolicy(policy, image('debian')), isOfPolicy(policy, image('windows'))]).toEqual([true, false]);
});

test('a refusal tells no query', () => {
  const refused = refusal(undefined, { url: `${url}?X-Amz-Signature=abc` }, { by: 'preload' });
  expect(refused).toContain('debian.qcow2');
  expect(refused).not.toContain('abc');
  expect(redactUrl('https://h/k?a=b#c')).toBe('https://h/k');
  expect(redactUrl('https://h/k;jsessionid=abc')).toBe('https://h/k');
});
