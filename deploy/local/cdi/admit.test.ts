import { describe, expect, test } from 'vitest';
import {
  type AdmissionRequest,
  admit as admitAs,
  type ExistingClaim,
  type FindClaim,
  type RefuseClone,
} from './admit.ts';

const resource = { group: 'cdi.kubevirt.io', version: 'v1beta1', resource: 'datavolumes' };
const storage = { resources: { requests: { storage: '1Gi' } } };
const s3 = { url: 'https://s3.eu-west-1.amazonaws.com/images/lab.qcow2' };

const aDataVolume = (spec: object) => ({ metadata: { name: 'lab', namespace: 'vmdi-farm' }, spec: { ...spec } });

const creating = (spec: object): AdmissionRequest => ({
  operation: 'CREATE',
  resource,
  object: aDataVolume(spec),
  oldObject: undefined,
  user: 'admin',
});

const nothing = () => undefined;
const anyoneMay: RefuseClone = async () => undefined;
const admit = (request: AdmissionRequest, findClaim: FindClaim, refuse = anyoneMay) =>
  admitAs(request, findClaim, refuse);

describe('CDI refuses with 422 and its own words', () => {
  test.each([
    [
      'an s3:// URL',
      { source: { s3: { url: 's3://images/lab' } }, storage },
      'spec.source Invalid source URL scheme: s3://images/lab',
    ],
    ['an invalid URL', { source: { http: { url: 'lab.img' } }, storage }, 'spec.source Invalid source URL: lab.img'],
    ['an empty URL', { source: { http: { url: '' } }, storage }, 'spec.source source URL is empty'],
    ['no source', { storage }, 'Data volume should have either Source or SourceRef, or be externally populated'],
    [
      'source and sourceRef',
      { source: { s3 }, sourceRef: { kind: 'DataSource', name: 'a' }, storage },
      'Data volume should have either',
    ],
    ['an empty source', { source: {}, storage }, 'Missing Data volume source'],
    ['two sources', { source: { s3, blank: {} }, storage }, 'Multiple Data volume sources'],
    ['neither pvc nor storage', { source: { s3 } }, 'Missing Data volume PVC'],
    ['both pvc and storage', { source: { s3 }, storage, pvc: storage }, 'Duplicate storage definition'],
    ['no size', { source: { s3 }, storage: {} }, 'Storage size is missing'],
    ['no size in a clone with pvc', { source: { pvc: { name: 'a', namespace: 'b' } }, pvc: {} }, 'PVC size is missing'],
    [
      'a size of zero',
      { source: { s3 }, storage: { resources: { requests: { storage: '0' } } } },
      "Storage size can't be equal or less than zero",
    ],
    [
      'a size below 1Mi',
      { source: { s3 }, storage: { resources: { requests: { storage: '1000k' } } } },
      'Storage size should be at least 1MiB',
    ],
    ['pvc without access mode', { source: { s3 }, pvc: storage }, 'Required value: at least 1 access mode is required'],
    [
      'pvc with two access modes',
      { source: { s3 }, pvc: { ...storage, accessModes: ['ReadWriteOnce', 'ReadWriteMany'] } },
      'PVC multiple accessModes',
    ],
    [
      'a checksum without algorithm',
      { source: { http: { ...s3, checksum: 'abc' } }, storage },
      "Invalid checksum format: invalid checksum format: expected 'algorithm:hash', got 'abc'",
    ],
    [
      'a checksum of a wrong length',
      { source: { http: { ...s3, checksum: 'md5:abc' } }, storage },
      'invalid md5 hash length: expected 32 hex characters, got 3',
    ],
    [
      'a checksum of an unknown algorithm',
      { source: { http: { ...s3, checksum: 'crc:abc' } }, storage },
      "unsupported hash algorithm 'crc'",
    ],
  ])('%s', async (_, spec, message) => {
    await expect(admit(creating(spec), nothing)).rejects.toMatchObject({
      status: 422,
      message: expect.stringContaining(message),
    });
  });

  test('a change of spec, but not one of metadata', async () => {
    const before = aDataVolume({ source: { s3 }, storage });
    const after = aDataVolume({ source: { s3: { url: `${s3.url}.gz` } }, storage });
    const update = { operation: 'UPDATE', resource, oldObject: before, user: 'admin' } as const;
    await expect(admit({ ...update, object: after }, nothing)).rejects.toThrow('Cannot update DataVolume Spec');
    const labelled = { ...before, metadata: { ...before.metadata, labels: { a: 'b' } } };
    await expect(admit({ ...update, object: labelled }, nothing)).resolves.toBeUndefined();
  });
});

describe('a claim of the same name', () => {
  const request = creating({ source: { s3 }, storage });
  const ask = (claim: ExistingClaim) => admit(request, () => claim);

  test('without a controller is refused', async () => {
    const message =
      'admission webhook "datavolume-validate.cdi.kubevirt.io" denied the request:  Destination PVC vmdi-farm/lab already exists';
    await expect(ask({ metadata: {} })).rejects.toThrow(message);
  });

  test('that a DataVolume controls, or that is populated for this one, is accepted', async () => {
    await ask({ metadata: { ownerReferences: [{ kind: 'DataVolume', controller: true }] } });
    await ask({ metadata: { annotations: { 'cdi.kubevirt.io/storage.populatedFor': 'lab' } } });
  });
});

describe('a clone from another namespace', () => {
  const clone = () => creating({ source: { snapshot: { name: 'a', namespace: 'images' } }, storage: {} });
  const refuse: RefuseClone = async (user, namespace) => `${user} may not in ${namespace}`;

  test('is refused to whom that namespace does not grant it, also when only its labels change', async () => {
    const message =
      'admission webhook "datavolume-mutate.cdi.kubevirt.io" denied the request:  admin may not in images';
    await expect(admit(clone(), nothing, refuse)).rejects.toMatchObject({ status: 422, message });
    const labelled = { ...clone(), operation: 'UPDATE' as const, oldObject: clone().object };
    await expect(admit(labelled, nothing, refuse)).rejects.toThrow('may not');
    await expect(admit({ ...labelled, subresource: 'status' }, nothing, refuse)).resolves.toBeUndefined();
  });

  test('is not asked about when it is deleted, or when the source is at home', async () => {
    const gone = clone();
    Object.assign(gone.object?.metadata as object, { deletionTimestamp: '2026-01-01T00:00:00Z' });
    await admit(gone, nothing, refuse);
    await admit(
      creating({ source: { snapshot: { name: 'a', namespace: 'vmdi-farm' } }, storage: {} }),
      nothing,
      refuse,
    );
  });

  test('is signed when it is made', async () => {
    const request = clone();
    await admit(request, nothing);
    expect(request.object).toMatchObject({
      metadata: { name: 'lab', annotations: { 'cdi.kubevirt.io/storage.clone.token': 'ot-simulated' } },
    });
  });
});

test('CDI accepts an import, a clone without size, and looks at no other kind', async () => {
  await admit(creating({ source: { s3 }, storage }), nothing);
  await admit(creating({ source: { snapshot: { name: 'a', namespace: 'b' } }, storage: {} }), nothing);
  await admit({ ...creating({}), resource: { ...resource, resource: 'datasources' } }, nothing);
  await admit({ operation: 'DELETE', resource, object: undefined, oldObject: undefined, user: 'admin' }, nothing);
});
