import { describe, expect, test } from 'vitest';
import type { Action } from '../../shared/actions.ts';
import type { Volume, VolumeStatus } from '../../shared/kinds/kupenstack/volume.ts';
import { createImage, deleteImage, importImage } from '../../shared/kinds/openstack/image.ts';
import { createVolume, deleteVolume, extendVolume } from '../../shared/kinds/openstack/volume.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { allowedSources, at, start } from '../../test/support/builders/images.ts';
import {
  aCinderVolume,
  anImage,
  aVolume,
  conditionsIn,
  heldBy,
  refusing,
  requestsIn,
  saying,
  statusIn,
} from '../../test/support/builders/openstack.ts';
import { decide } from './decide.ts';
import type { Found, Observed } from './observed.ts';

type Given = Partial<Omit<Observed, 'cloud' | 'policy'>> &
  Partial<Found> & { fault?: string; data?: Record<string, string> };

const seeing = ({ volumes = [], own = [], named = [], fault, data = {}, ...more }: Given): Observed => ({
  nowMs: start + 10_000,
  policy: parsePolicy({ data: { allowedSources, ...data } }),
  refusals: new Map(),
  volume: aVolume(),
  cloud: fault ? { fault: { reason: fault as 'Unreachable', message: 'why it is so' } } : { volumes, own, named },
  ...more,
});
const reconcile = (given: Given = {}) => decide(seeing(given));
const status = (actions: readonly Action[]) => statusIn<VolumeStatus>(actions);

const url = 'https://images.example.com/cirros.img';
const from = (image: string, said?: Partial<VolumeStatus>) =>
  aVolume({ spec: { source: { image } }, ...(said ? { status: said } : {}) });
/** An existing volume, as Cinder shows it. */
const there = (more: Partial<Found['volumes'][number]> = {}, volume: Volume = aVolume()) => ({
  volume,
  volumes: [aCinderVolume(volume, more)],
});
const ready = (more: Parameters<typeof aVolume>[0] = {}) =>
  aVolume({ ...more, status: { id: 'id-disk', phase: 'Available', ready: true, ...more.status } });

describe('a volume without a source', () => {
  const volume = aVolume();
  test.each<[string, Given, string[]]>([
    ['gets its finalizer before anything', { volume: aVolume({ finalizers: [] }) }, ['patchMetadata', 'requeue']],
    ['is made', {}, ['createVolume']],
    ['is created although its status has an id, whose volume no longer exists', { volume: ready() }, ['createVolume']],
    [
      "is created although another user's volume has its name",
      { volumes: [aCinderVolume(undefined, { name: 'disk' })] },
      ['createVolume'],
    ],
    ['that is made is looked at again soon', there({ status: 'creating' }), ['patchStatus', 'requeueAfter 2000']],
    ['that exists is reported', there(), ['patchStatus', 'recordEvent Normal Available']],
    ['grows', there({}, aVolume({ spec: { size: '3Gi' } })), ['extendVolume']],
    ['grows while a server has it', there(heldBy('id-server'), aVolume({ spec: { size: '3Gi' } })), ['extendVolume']],
    [
      'does not grow while a task runs',
      there({ status: 'attaching' }, aVolume({ spec: { size: '3Gi' } })),
      ['patchStatus', 'requeueAfter 2000'],
    ],
    ['that is larger is left alone', there({ size: 5 }), ['patchStatus', 'recordEvent Normal Available']],
    [
      'that exists twice is left alone',
      { volumes: [aCinderVolume(volume), aCinderVolume(volume, { id: 'b' })] },
      ['patchStatus', 'recordEvent Warning NotUnique'],
    ],
    ['whose OpenStack is out of reach is left alone', { fault: 'Unreachable' }, ['patchStatus']],
    [
      'whose credentials get their finalizer in a moment is looked at then',
      { fault: 'CredentialsUnguarded' },
      ['patchStatus', 'requeueAfter 500'],
    ],
  ])('%s', (_, given, done) => {
    expect(saying(reconcile(given))).toEqual(done);
  });
  test.each([
    ['1Gi', 1],
    ['1Mi', 1],
    ['1025Mi', 2],
    ['10G', 10],
    ['2147483648', 2],
  ])('of %s is asked for with %i GiB, rounded up', (size, gib) => {
    const request = createVolume('uid-disk', { name: 'disk', size: gib, image: undefined });
    expect(requestsIn(reconcile({ volume: aVolume({ spec: { size } }) }))).toEqual([request]);
  });
});

describe('a volume from an existing image', () => {
  const volume = from('cirros');
  const create = createVolume('uid-disk', { name: 'disk', size: 1, image: 'id-image' });
  test('is filled from it', () => {
    expect(requestsIn(reconcile({ volume, named: [anImage()] }))).toEqual([create]);
  });
  test.each<[string, Found['named'], string]>([
    ['none', [], 'ImageMissing'],
    ['two', [anImage(), anImage({ id: 'id-second' })], 'ImageNotUnique'],
    ['an image that is not active', [anImage({ status: 'queued' })], 'ImageNotActive'],
  ])('is Pending where Glance has %s, and nothing is made', (_, named, reason) => {
    const found = reconcile({ volume, named });
    expect(saying(found)).toEqual(['patchStatus']);
    expect(status(found)).toMatchObject({ phase: 'Pending', ready: false });
    expect(conditionsIn(found).Ready).toBe(`False ${reason}`);
  });
  test('leaves the image alone once it exists', () => {
    expect(requestsIn(reconcile({ ...there({}, volume), named: [anImage()] }))).toEqual([]);
  });
});

describe('a volume from a URL', () => {
  const volume = from(url);
  const queued = anImage({ status: 'queued', name: 'disk' });
  const create = createVolume('uid-disk', { name: 'disk', size: 1, image: 'id-image' });
  test.each<[string, Given, ReturnType<typeof requestsIn>]>([
    ['gets an image first', { volume }, [createImage('uid-disk', 'disk', 'qcow2')]],
    ['then has Glance download it', { volume, own: [queued] }, [importImage('id-image', url)]],
    ['asks once', { volume, own: [{ ...queued, os_glance_importing_to_stores: 'file' }] }, []],
    ['waits while it is downloaded', { volume, own: [anImage({ status: 'importing' })] }, []],
    ['is made of it', { volume, own: [anImage()] }, [create]],
    ['has it as long as it is filled', { ...there({ status: 'downloading' }, volume), own: [anImage()] }, []],
    ['lets it go then', { ...there({}, volume), own: [anImage()] }, [deleteImage('id-image')]],
    [
      'lets it go before it grows',
      { ...there({}, aVolume({ spec: { size: '2Gi', source: { image: url } } })), own: [anImage()] },
      [deleteImage('id-image'), extendVolume('id-disk', 2)],
    ],
  ])('%s', (_, given, requests) => {
    expect(requestsIn(reconcile(given))).toEqual(requests);
  });
  test.each([
    ['a.qcow2', 'qcow2'],
    ['a.raw?signature=b.iso', 'raw'],
    ['a.ISO', 'iso'],
    ['a.vmdk', 'vmdk'],
    ['a.img', 'qcow2'],
    ['a', 'qcow2'],
  ])('is of the format that %s says: %s', (file, format) => {
    const [request] = requestsIn(reconcile({ volume: from(`https://images.example.com/${file}`) }));
    expect(request).toEqual(createImage('uid-disk', 'disk', format));
  });
  test.each<[string, Record<string, string>, string, string]>([
    ['that the policy does not allow', { allowedSources: 'https://other.example.com/*' }, 'Failed', 'SourceNotAllowed'],
    ['while the policy does not parse', { allowedSources: '*' }, 'Pending', 'InvalidPolicy'],
  ])('%s is not downloaded', (_, data, phase, reason) => {
    const found = reconcile({ volume: from(`${url}?signature=hunter2`), data });
    expect(requestsIn(found)).toEqual([]);
    expect(status(found)).toMatchObject({ phase });
    expect(conditionsIn(found).Ready).toBe(`False ${reason}`);
    expect(JSON.stringify(found.map((action) => ({ ...action, of: '', about: '' })))).not.toContain('hunter2');
  });
  test('that the policy no longer allows continues with what is downloaded', () => {
    const data = { allowedSources: 'https://other.example.com/*' };
    expect(requestsIn(reconcile({ volume, own: [anImage()], data }))).toEqual([create]);
    expect(saying(reconcile({ volume, own: [anImage({ status: 'importing' })], data }))).toEqual([
      'patchStatus',
      'requeueAfter 2000',
    ]);
  });
});

describe('an attempt that failed', () => {
  const failed = anImage({ status: 'queued', os_glance_failed_import: 'file' });
  const volume = from(url);
  test('is written down before what it left is deleted', () => {
    const found = reconcile({ volume, own: [failed] });
    expect(saying(found)).toEqual(['patchStatus', 'deleteImage id-image']);
    expect(status(found)).toMatchObject({
      phase: 'Pending',
      attempts: 1,
      failed: 'id-image',
      nextAttemptAt: at(310).replace('.000Z', 'Z'),
    });
    expect(conditionsIn(found).Ready).toBe('False DownloadFailed');
  });
  test('is counted once, however often what it left is seen', () => {
    const written = from(url, { attempts: 1, failed: 'id-image', nextAttemptAt: at(310) });
    expect(saying(reconcile({ volume: written, own: [failed] }))).toEqual(['deleteImage id-image']);
  });
  test.each<[string, Partial<VolumeStatus>, string[]]>([
    ['is not repeated before its time', { attempts: 1, failed: 'x', nextAttemptAt: at(11) }, ['patchStatus']],
    ['is repeated then', { attempts: 1, failed: 'x', nextAttemptAt: at(10) }, ['createImage']],
    [
      'is not repeated once all are spent',
      { attempts: 3, failed: 'x' },
      ['patchStatus', 'recordEvent Warning AttemptFailed'],
    ],
  ])('%s', (_, said, done) => {
    expect(saying(reconcile({ volume: from(url, { phase: 'Pending', ...said }) }))).toEqual(done);
  });
  test('waits longer each time, and for the last time not at all', () => {
    const second = status(reconcile({ volume: from(url, { attempts: 1, failed: 'x' }), own: [failed] }));
    expect(second).toMatchObject({ phase: 'Pending', attempts: 2, nextAttemptAt: at(610).replace('.000Z', 'Z') });
    const last = reconcile({ volume: from(url, { attempts: 2, failed: 'x', nextAttemptAt: at(9) }), own: [failed] });
    expect(status(last)).toMatchObject({ phase: 'Failed', attempts: 3, nextAttemptAt: null });
    expect(saying(last)).toEqual(['patchStatus', 'recordEvent Warning DownloadFailed', 'deleteImage id-image']);
  });
  test('of Cinder is the same', () => {
    const found = reconcile(there({ status: 'error' }));
    expect(saying(found)).toEqual(['patchStatus', 'deleteVolume id-disk']);
    expect(status(found)).toMatchObject({ attempts: 1, failed: 'id-disk', ready: false });
    expect(conditionsIn(found).Ready).toBe('False VolumeFailed');
  });
  test.each([
    'error',
    'error_restoring',
    'error_backing-up',
    'error_attaching',
    'error_extending',
    'error_managing',
    'error_deleting',
  ])('is not counted if an existing volume is %s: its content stays', (state) => {
    for (const said of [{ filled: 'id-disk', ready: false, phase: 'Failed' as const }, {}]) {
      const found = reconcile(there({ status: state }, ready({ status: said })));
      expect(requestsIn(found)).toEqual([]);
      expect(conditionsIn(found).Ready).toBe('False VolumeError');
      expect(saying(found)).not.toContain('requeueAfter 2000');
    }
  });
  test('is not counted from the first time the volume exists', () => {
    expect(status(reconcile(there()))).toMatchObject({ filled: 'id-disk' });
    expect(status(reconcile(there({ status: 'creating' })))).not.toHaveProperty('filled');
    const another = aVolume({ status: { id: 'old', filled: 'old', phase: 'Available', ready: true } });
    expect(requestsIn(reconcile(there({ status: 'error' }, another)))).toEqual([deleteVolume('id-disk')]);
  });
  test.each(['error_extending', 'error_deleting'])('is not counted if an existing volume is %s', (state) => {
    const found = reconcile(there({ status: state }));
    expect(requestsIn(found)).toEqual([]);
    expect(status(found)).not.toHaveProperty('attempts');
    expect(saying(found)).toContain('requeueAfter 2000');
  });
  test('is forgotten once the volume exists', () => {
    const volume = aVolume({ status: { phase: 'Creating', attempts: 1, failed: 'x', nextAttemptAt: at(0) } });
    expect(status(reconcile(there({}, volume)))).toMatchObject({ attempts: null, failed: null, nextAttemptAt: null });
  });
  test('leaves what was said of it while Cinder takes the volume away', () => {
    const volume = aVolume({
      status: { phase: 'Failed', attempts: 3, failed: 'id-disk', message: 'It is not tried again.' },
    });
    expect(status(reconcile(there({ status: 'deleting' }, volume)))).not.toMatchObject({ phase: 'Terminating' });
  });
  test('that was the last is reported again after OpenStack was unreachable', () => {
    const volume = from(url, { phase: 'Pending', message: 'why it is so', attempts: 3, failed: 'x' });
    expect(status(reconcile({ volume }))).toMatchObject({ phase: 'Failed' });
  });
});

describe('the status', () => {
  test.each([
    ['creating', 'Creating', false],
    ['downloading', 'Creating', false],
    ['available', 'Available', true],
    ['reserved', 'InUse', true],
    ['in-use', 'InUse', true],
    ['detaching', 'InUse', true],
    ['extending', 'Available', true],
    ['deleting', 'Terminating', false],
    ['maintenance', 'Unknown', false],
  ])('of a volume that is %s is %s', (state, phase, isReady) => {
    const found = reconcile(there({ status: state }));
    expect(status(found)).toMatchObject({ phase, ready: isReady });
    expect(conditionsIn(found).Ready).toBe(`${isReady ? 'True' : 'False'} ${phase}`);
  });
  test('tells what Cinder says', () => {
    expect(status(reconcile(there({ ...heldBy('id-server'), size: 4 })))).toMatchObject({
      id: 'id-disk',
      size: '4Gi',
      bootable: true,
      server: 'id-server',
    });
  });
  test('forgets the server that has it no more', () => {
    expect(status(reconcile(there({}, ready({ status: { server: 'id-server' } }))))).toMatchObject({ server: null });
  });
  test('is written once', () => {
    const said = { ...status(reconcile(there())) } as Partial<VolumeStatus>;
    expect(reconcile(there({}, aVolume({ status: said })))).toEqual([]);
  });
  test.each<[string, Given, string]>([
    ['Pending where it was never made', { fault: 'CredentialsMissing' }, 'Pending'],
    ['Unknown where it was', { fault: 'Unreachable', volume: ready() }, 'Unknown'],
  ])('is %s and OpenStack is out of reach', (_, given, phase) => {
    expect(status(reconcile(given))).toMatchObject({ phase, ready: false, message: 'why it is so' });
  });
});

describe('a request that is refused', () => {
  const volume = aVolume();
  const create = createVolume('uid-disk', { name: 'disk', size: 1, image: undefined });
  test.each([
    ['QuotaExceeded: too many', 'Pending', 'QuotaExceeded'],
    ['Unavailable: no answer', 'Pending', 'Unavailable'],
    ['Refused: size', 'Failed', 'Refused'],
    ['Forbidden: by policy', 'Failed', 'Forbidden'],
  ])('for %s leaves a volume that is not there %s', (words, phase, reason) => {
    const found = reconcile({ refusals: refusing(volume, [create, words]) });
    expect(requestsIn(found)).toEqual([]);
    expect(status(found)).toMatchObject({ phase, ready: false });
    expect(conditionsIn(found).Ready).toBe(`False ${reason}`);
  });
  test('leaves a volume that does not grow in use, and reports why', () => {
    const large = aVolume({ spec: { size: '9Gi' } });
    const found = reconcile({
      ...there({}, large),
      refusals: refusing(large, [extendVolume('id-disk', 9), 'QuotaExceeded: gigabytes']),
    });
    expect(status(found)).toMatchObject({
      phase: 'Available',
      ready: true,
      message: 'Cinder does not enlarge the volume: gigabytes.',
    });
    expect(conditionsIn(found).Ready).toBe('False QuotaExceeded');
  });
});

describe('a deleted volume', () => {
  const leaving = ready({ deleted: true });
  const gone = there({}, leaving);
  const image = deleteImage('id-image');
  test.each<[string, Given, string[]]>([
    ['is deleted', gone, ['deleteVolume id-disk']],
    ['is deleted with its image', { ...gone, own: [anImage()] }, ['deleteVolume id-disk', 'deleteImage id-image']],
    [
      'takes its image along where it was not made yet',
      { volume: leaving, own: [anImage({ status: 'importing' })] },
      ['deleteImage id-image'],
    ],
    ['is deleted if it failed', there({ status: 'error' }, leaving), ['deleteVolume id-disk']],
    [
      'that is being deleted is waited for',
      there({ status: 'deleting' }, leaving),
      ['patchStatus', 'requeueAfter 2000'],
    ],
    ['stays while a server has it', there(heldBy('id-server'), leaving), ['patchStatus', 'requeueAfter 2000']],
    ['is let go once nothing is left', { volume: leaving, named: [anImage()] }, ['patchMetadata']],
    ['is let go where its project is gone', { volume: leaving, fault: 'ProjectMissing' }, ['patchMetadata']],
    ['stays where OpenStack is out of reach', { volume: leaving, fault: 'Unreachable' }, ['patchStatus']],
    [
      'stays where an image of it does',
      { volume: leaving, own: [anImage()], refusals: refusing(leaving, [image, 'Conflict: in use']) },
      ['patchStatus', 'requeueAfter 2000'],
    ],
    ['without our finalizer is not ours', { volume: ready({ deleted: true, finalizers: [] }) }, []],
  ])('%s', (_, given, done) => {
    expect(saying(reconcile(given))).toEqual(done);
  });
  test('says which server has it', () => {
    const found = reconcile(there(heldBy('id-server'), leaving));
    expect(status(found)).toMatchObject({
      phase: 'Terminating',
      message: expect.stringContaining('Server id-server has the volume'),
    });
    expect(conditionsIn(found)).toMatchObject({ DeletionHeld: 'True InUse', Ready: 'False InUse' });
  });
  test('says why OpenStack does not delete it', () => {
    const found = reconcile({
      ...gone,
      refusals: refusing(leaving, [deleteVolume('id-disk'), 'Refused: it has snapshots']),
    });
    expect(conditionsIn(found)).toMatchObject({ DeletionHeld: 'True Refused' });
  });
  test('says that it is being deleted, and no more who held it', () => {
    const held = [
      { type: 'DeletionHeld', status: 'True' as const, reason: 'InUse', message: '', lastTransitionTime: at(0) },
    ];
    const found = reconcile(
      there({ status: 'deleting' }, ready({ deleted: true, status: { conditions: held, server: 'x' } })),
    );
    expect(status(found)).toMatchObject({ phase: 'Terminating', server: null });
    expect(conditionsIn(found)).toEqual({
      CloudReady: 'True Reached',
      Ready: 'False Deleting',
      Reconciling: 'True Deleting',
    });
  });
});
