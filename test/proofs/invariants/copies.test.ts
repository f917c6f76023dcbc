import { describe, expect, test } from 'vitest';
import type { DataVolume } from '../../../shared/kinds/cdi/data-volume.ts';
import type { VMDiskImage, VMDiskImageStatus } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { at, aVMDiskImage } from '../../support/builders/images.ts';
import { aVirtualMachine } from '../../support/builders/machines.ts';
import { aHistory, aPolicy, by, claimOf, download, expectBroken, gone, leaving, snapshot } from './a-history.ts';
import { check } from './check.ts';
import type { Invariant } from './follow.ts';
import { l1Rest } from './l1-rest.ts';
import { l6Machines } from './l6-machines.ts';
import { s1Capacity } from './s1-capacity.ts';
import { s6Attempts } from './s6-attempts.ts';
import { s8Evidence } from './s8-evidence.ts';
import { s15SlotLeak } from './s15-slot-leak.ts';
import { s17Content } from './s17-content.ts';
import { s18LastCopy } from './s18-last-copy.ts';
import { s21Refreshed } from './s21-refreshed.ts';

const condition = (status: 'True' | 'False', reason = 'Some') => ({
  conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: at(0) }],
});
const [first, second] = ['first', 'second'].map((name) => `https://s3.example/images/${name}.qcow2`);
const anImage = (url: string | undefined, status: VMDiskImageStatus, more: object = {}): VMDiskImage => {
  const image = aVMDiskImage({ status: { revision: 1, attempt: 1, attempts: 1, ...status }, ...more });
  return { ...image, spec: { ...image.spec, url: url ?? '' } };
};
/** A finished and bound download of the content that the image asks for. */
const done = (image: VMDiskImage): DataVolume => {
  const { spec } = image;
  const made = download(image, { phase: 'Succeeded', bound: { status: 'True' } });
  const storage = { storageClassName: spec.storageClass, resources: { requests: { storage: spec.diskSize } } };
  return { ...made, spec: { source: { [spec.sourceType]: { url: spec.url } }, storage } };
};
const only = (invariant: Invariant, written: Parameters<typeof aHistory>[0], options = {}) =>
  check(aHistory(written, options), [invariant]);
const still = { stillFromMs: 0 };

const syncing = anImage(first, { phase: 'Syncing' });
const cut = snapshot(syncing, { ready: true });
const succeeded = (url: string | undefined) =>
  anImage(url, { phase: 'Succeeded', snapshot: { name: cut.metadata.name, revision: 1 }, ...condition('True') });

describe('S17', () => {
  test('an image with the content that it asks for is accepted', () => {
    expect(
      only(s17Content, [syncing, done(syncing), cut, by('follow-sync', succeeded(first), { since: 103 })], still),
    ).toEqual([]);
  });

  test('an image that is Ready with an earlier content is reported, at the write and at rest', () => {
    const changed = [syncing, done(syncing), cut, anImage(second, { phase: 'Syncing' })];
    const history = aHistory([...changed, by('follow-sync', succeeded(second), { since: 104 })]);
    expectBroken(s17Content, history, '105', 'first.qcow2 s3');
    const unseen = by('follow-sync', succeeded(second), { since: 103 });
    expect(only(s17Content, [...changed, unseen])).toEqual([]);
    expect(only(s17Content, [...changed, unseen], still)).toHaveLength(1);
  });

  test('a clone of the snapshot of another image is of its content if one ETag at one server tells so', () => {
    const source = (etag: string) => ({
      queuedAt: at(0),
      source: { bytes: 5, etag, content: 'any', inspectedAt: at(0), queuedAt: at(0) },
    });
    const donor = anImage(first, { phase: 'Syncing', ...source('"a"') });
    const heirOf = (url: string | undefined, etag: string) =>
      anImage(url, { phase: 'Syncing', ...source(etag) }, { name: 'heir' });
    const judged = (heir: VMDiskImage) => {
      const made = download(heir, { phase: 'Succeeded', bound: { status: 'True' } });
      const clone = { ...made, spec: { source: { snapshot: { namespace: 'vmdi-farm', name: cut.metadata.name } } } };
      const own = snapshot(heir, { ready: true });
      const status = { phase: 'Succeeded', snapshot: { name: own.metadata.name, revision: 1 }, ...condition('True') };
      const ready = by('follow-sync', { ...heir, status: { ...heir.status, ...status } } as VMDiskImage, {
        since: 106,
      });
      return only(s17Content, [donor, done(donor), cut, heir, clone, own, ready]).map(({ message }) => message);
    };
    expect(judged(heirOf(second, '"a"'))).toEqual([]);
    const wrong = [expect.stringContaining("a download of another's https://s3.example/images/first.qcow2")];
    expect(judged(heirOf(second, '"b"'))).toEqual(wrong);
    expect(judged(heirOf('https://s3.evil.example/images/first.qcow2', '"a"'))).toEqual(wrong);
  });

  test('a restored image may become Ready with its content until start-sync has read the next', () => {
    const recreated = (image: VMDiskImage) => ({ ...image, metadata: { ...image.metadata, uid: 'restored' } });
    const restored = by('user', recreated(succeeded(first)));
    const lostOf = (image: VMDiskImage) =>
      by('follow-sync', recreated({ ...image, status: { ...image.status, ...condition('False') } }));
    const lost = lostOf(succeeded(first));
    const changed = by('user', recreated({ ...lost.object, spec: succeeded(second).spec } as VMDiskImage));
    const ready = by('follow-sync', recreated(succeeded(second)), { since: 106 });
    const before = [by('start-sync', syncing, { since: 100 }), done(syncing), cut];
    expect(only(s17Content, [...before, restored, lost, changed, ready])).toEqual([]);
    expect(only(s17Content, [...before, restored, lost, changed, ready], still)).toHaveLength(1);
    const taken = by('start-sync', changed.object, { since: 106 });
    const later = by('follow-sync', recreated(succeeded(second)), { since: 107 });
    expectBroken(s17Content, aHistory([...before, restored, lost, changed, taken, later]), '108', 'first.qcow2 s3');
    const changedBefore = [by('user', succeeded(first)), by('user', succeeded(second))];
    const restoredAfter = [by('user', recreated(succeeded(second))), lostOf(succeeded(second))];
    const again = by('follow-sync', recreated(succeeded(second)), { since: 108 });
    expect(only(s17Content, [...before, ...changedBefore, ...restoredAfter, again])).toEqual([]);
  });

  test('an adopted snapshot, or one whose volume was not recorded, is not judged', () => {
    const adopted = anImage(second, {
      ...succeeded(second).status,
      adoption: { snapshot: cut.metadata.name, revision: 1 },
    });
    expect(only(s17Content, [syncing, done(syncing), cut, adopted], still)).toEqual([]);
    expect(only(s17Content, [syncing, cut, succeeded(second)], still)).toEqual([]);
  });
});

describe('S21', () => {
  const url = first ?? '';
  const withEtag = (etag: string | undefined, changed?: { revision: number }) => {
    const source = { etag, inspectedAt: at(0), queuedAt: at(0), ...(changed ? { changed } : {}) };
    const image = anImage(url, { ...succeeded(url).status, queuedAt: at(0), source });
    return { ...image, spec: { ...image.spec, refresh: 'OnChange' } };
  };
  const old = by('inspect-source', withEtag('"old"'));
  const replaced = by('inspect-source', withEtag('"old"', { revision: 1 }));
  type Looked = [etag: string | undefined, revision: number, at?: string | undefined];
  const looking = (...looks: readonly Looked[]) => ({
    before: [aPolicy({ inspectTimeout: '30s' })],
    sources: {
      looks: looks.map(([etag, revision, of = url]) => ({ url: of, etag, revision })),
      atEnd: { [url]: '"new"' },
    },
  });

  test('two looks at the same other object make a new revision', () => {
    expect(only(s21Refreshed, [old, replaced], looking(['"new"', 101], ['"new"', 101]))).toEqual([]);
  });

  test.each<[what: string, looks: Looked[]]>([
    [
      'no look',
      [
        ['"new"', 99],
        ['"new"', 99],
      ],
    ],
    ['one look', [['"new"', 101]]],
    [
      'two looks at two objects',
      [
        ['"new"', 101],
        ['"newer"', 101],
      ],
    ],
    [
      'two looks at the same object as before',
      [
        ['"old"', 101],
        ['"old"', 101],
      ],
    ],
    [
      'two looks at no object',
      [
        [undefined, 101],
        [undefined, 101],
      ],
    ],
    [
      'two looks at another url',
      [
        ['"new"', 101, second],
        ['"new"', 101, second],
      ],
    ],
  ])('%s since its inspection make none', (_, looks) => {
    expectBroken(s21Refreshed, aHistory([old, replaced], looking(...looks)), '102', 'ubuntu is to have a new revision');
  });

  test('in the end an image that is refreshed has the revision of what is at its url', () => {
    const end = { ...looking(), ...still };
    const now = by('inspect-source', withEtag('"new"'));
    expect(only(s21Refreshed, [old, now], end)).toEqual([]);
    expectBroken(
      s21Refreshed,
      aHistory([old], end),
      '101',
      'ubuntu ends with the revision of "old", and "new" is at its',
    );
    expect(only(s21Refreshed, [old], { ...end, before: [aPolicy({})] })).toEqual([]);
    expect(only(s21Refreshed, [leaving(old.object)], end)).toEqual([]);
    expect(only(s21Refreshed, [old], still)).toEqual([]);
  });
});

describe('S18', () => {
  const volume = done(syncing);
  const existing = [succeeded(first), volume, claimOf(volume), cut];

  test('a function may delete one of two copies', () => {
    expect(only(s18LastCopy, [by('follow-sync', gone(volume).object, { isGone: true })], { before: existing })).toEqual(
      [],
    );
  });

  test('the deletion of the last copy is reported, unless there was another when the reconcile began', () => {
    const deleted = (since: number) => [gone(cut), by('follow-sync', volume, { isGone: true, since })];
    expectBroken(s18LastCopy, aHistory(deleted(101), { before: existing }), '102', 'the last copy of ubuntu');
    expect(only(s18LastCopy, deleted(100), { before: existing })).toEqual([]);
  });

  test('the volume of an attempt that had ended when the reconcile began is no copy', () => {
    const failed = (since: number) => [
      anImage(first, { phase: 'Failed' }),
      by('follow-sync', volume, { isGone: true, since }),
    ];
    const ended = [anImage(first, { phase: 'Queued' }), volume, claimOf(volume)];
    expectBroken(s18LastCopy, aHistory(failed(101), { before: ended }), '102', 'the last copy of ubuntu');
    expect(only(s18LastCopy, failed(100), { before: ended })).toEqual([]);
    const isActiveAttempt = [syncing, volume, claimOf(volume)];
    expect(only(s18LastCopy, failed(100), { before: isActiveAttempt })).toHaveLength(1);
  });

  test('a user may delete it, and so may a function if the image is being deleted', () => {
    const last = [succeeded(first), cut];
    expect(only(s18LastCopy, [by('user', cut, { isGone: true })], { before: last })).toEqual([]);
    expect(
      only(s18LastCopy, [by('prune', cut, { isGone: true })], { before: [leaving(succeeded(first)), cut] }),
    ).toEqual([]);
  });

  test('a volume that is not bound, or whose claim was deleted, is no copy', () => {
    const lost = [succeeded(first), download(syncing, { phase: 'Succeeded', bound: { status: 'False' } })];
    expect(only(s18LastCopy, [by('follow-sync', lost[1] as DataVolume, { isGone: true })], { before: lost })).toEqual(
      [],
    );
    expect(
      only(s18LastCopy, [by('follow-sync', volume, { isGone: true })], { before: [succeeded(first), volume] }),
    ).toEqual([]);
  });
});

describe('L6', () => {
  const machine = (phase: 'Ready' | 'Provisioning' | 'Failed', reason: string) =>
    aVirtualMachine({ status: { phase, message: reason, ...condition(phase === 'Ready' ? 'True' : 'False', reason) } });

  test('a machine on a usable image is Ready or reports why not', () => {
    for (const one of [
      machine('Ready', 'Running'),
      machine('Failed', 'CrashLoop'),
      machine('Provisioning', 'Unschedulable'),
    ])
      expect(only(l6Machines, [succeeded(first), one], still)).toEqual([]);
    const history = aHistory([succeeded(first), machine('Provisioning', 'Starting')], still);
    expectBroken(l6Machines, history, '102', 'machine demo ends Provisioning');
    expectBroken(l6Machines, aHistory([succeeded(first), aVirtualMachine()], still), '102', 'machine demo ends unseen');
  });

  test('a machine waits if its image is not usable or not allowed', () => {
    const waiting = machine('Provisioning', 'Starting');
    expect(only(l6Machines, [syncing, waiting], still)).toEqual([]);
    expect(only(l6Machines, [aPolicy({ imageNamespaces: 'other' }), succeeded(first), waiting], still)).toEqual([]);
  });
});

describe('the cluster counts, not only the status', () => {
  test('S1: more images download than any policy allowed', () => {
    const images = ['a', 'b'].map((name) => aVMDiskImage({ name, status: syncing.status ?? {} }));
    const downloads = images.map((image) => by('start-sync', download(image)));
    const history = aHistory([aPolicy({ concurrency: '1' }), ...images, ...downloads]);
    expectBroken(s1Capacity, history, '105', '2 images download, 1 allowed');
    const edited = [
      aPolicy({ concurrency: '1' }),
      ...images,
      downloads[0] ?? syncing,
      by('user', images[0] ?? syncing, {}),
    ];
    expect(only(s1Capacity, edited)).toEqual([]);
  });

  test('S6: attempts count even if a function removes them from the status', () => {
    const attempt = (number: number, writer = 'start-sync') =>
      by(writer, anImage(first, { phase: 'Syncing', attempt: number, attempts: number }));
    const made = (number: number) =>
      download(anImage(first, { phase: 'Syncing', attempt: number }), { attempt: number });
    const three = [1, 2, 3].flatMap((number) => [attempt(number), made(number), gone(made(number))]);
    const forgotten = (writer: string) => [...three, by(writer, aVMDiskImage()), attempt(4), made(4)];
    expectBroken(s6Attempts, aHistory(forgotten('follow-sync')), '112', 'is number 4');
    expect(only(s6Attempts, forgotten('user'))).toEqual([]);
  });

  test('S8: a snapshot that is being deleted is no evidence', () => {
    const written = (since: number) => [
      anImage(first, { phase: 'Snapshotting' }),
      done(syncing),
      cut,
      leaving(cut),
      by('follow-sync', succeeded(first), { since }),
    ];
    expectBroken(s8Evidence, aHistory(written(104)), '105', 'which was being deleted');
    expect(only(s8Evidence, written(103))).toEqual([]);
  });

  test('S15: a download without an image keeps no slot', () => {
    const holder = { uid: 'uid-gone', image: 'vmdi-farm/gone', revision: 1, attempt: 1, since: at(0) };
    const lost = download(aVMDiskImage({ name: 'gone', uid: 'uid-gone', status: syncing.status ?? {} }));
    const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' };
    const metadata = { name: 'sync-slots', namespace: 'sync-operator', uid: 'uid-lease', resourceVersion: '9' };
    const held = {
      ...lease,
      metadata: { ...metadata, annotations: { 'pelotech.ot/slots': JSON.stringify([holder]) } },
    };
    const end = (second: number) => ({ ...still, auditMs: 60_000, endMs: Date.parse(at(second)) });
    const written = [lost, held as never];
    expect(only(s15SlotLeak, written, end(1200))).toEqual([]);
    expect(only(s15SlotLeak, written, end(1400))).toHaveLength(1);
  });

  test('L1: an image does not stay Failed for a missing snapshot that exists by now', () => {
    const failed = anImage(first, { phase: 'Failed', ...condition('False', 'SnapshotTimeout') });
    expect(only(l1Rest, [failed, snapshot(syncing)], still)).toEqual([]);
    expect(only(l1Rest, [failed, cut], still)).toHaveLength(1);
  });
});
