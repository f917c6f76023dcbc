import { describe, expect, test } from 'vitest';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { anImporter, at, aVMDiskImage } from '../../support/builders/images.ts';
import { aHistory, aPolicy, by, download, expectBroken, expectHolds, gone, granted, leaving } from './a-history.ts';
import { b2Budget } from './b2-budget.ts';
import { check } from './check.ts';
import { l2WorkConserving } from './l2-work-conserving.ts';
import { l4Recovery } from './l4-recovery.ts';
import { slotsAnnotation } from './plain-rules.ts';
import { s1Capacity } from './s1-capacity.ts';
import { s2SlotHeld } from './s2-slot-held.ts';
import { s3Identity } from './s3-identity.ts';
import { s4Fifo } from './s4-fifo.ts';
import { s15SlotLeak } from './s15-slot-leak.ts';
import { s20Inspected } from './s20-inspected.ts';

const queued = (name: string, second: number) =>
  aVMDiskImage({ name, status: { phase: 'Queued', revision: 1, attempt: 0, queuedAt: at(second) } });
const [first, second, third] = [queued('first', 1), queued('second', 2), queued('third', 3)] as const;
const before = [first, second, third];
const syncing = aVMDiskImage({ name: 'first', status: { ...first.status, phase: 'Syncing', attempt: 1, attempts: 1 } });

/** A history of these changes, with three queued images before them. */
const historyOf = (...changes: Parameters<typeof aHistory>[0]) => aHistory(changes, { before });
const give = (images: readonly VMDiskImage[], since?: number) =>
  by('start-sync', granted(...images), since === undefined ? {} : { since });
/** The Lease after a user broke it. */
const garbled = () => {
  const lease = granted();
  return by('user', { ...lease, metadata: { ...lease.metadata, annotations: { [slotsAnnotation]: 'garbage' } } });
};

describe('S1', () => {
  const limit = (concurrency: string) => by('user', aPolicy({ concurrency }));

  test('the limit may be reached, and lowering it takes no slot away', () => {
    expectHolds(historyOf(limit('2'), give([]), give([first, second], 102), limit('1'), give([first, second], 104)));
  });

  test('one more than the limit is reported', () => {
    const history = historyOf(limit('1'), give([]), give([first, second], 102));
    expectBroken(s1Capacity, history, '103', '2 hold slots, 1 allowed; added: vmdi-farm/first, vmdi-farm/second');
  });

  test('one more than slotsPerNamespace is reported, of that namespace alone', () => {
    const perNamespace = by('user', aPolicy({ slotsPerNamespace: '1' }));
    const other = aVMDiskImage({ name: 'other', namespace: 'tenant', status: second.status ?? {} });
    const all = { before: [...before, other] };
    expectHolds(aHistory([perNamespace, give([]), give([first, other], 102)], all));
    const history = aHistory([perNamespace, give([]), give([first, second], 102)], all);
    expectBroken(s1Capacity, history, '103', 'namespace vmdi-farm holds 2 slots, 1 allowed; added: vmdi-farm/first');
  });

  test('without a policy the limit is the default; with an invalid policy it is 0', () => {
    expectHolds(historyOf(give([]), give([first, second, third], 101)));
    expectBroken(s1Capacity, historyOf(limit('many'), give([]), give([first], 102)), '103', ' 0 allowed');
  });

  test('a reconcile decides by the policy that it read, which may have changed before its write', () => {
    const edited = [limit('2'), give([]), limit('1'), give([first, second], 102)];
    expectHolds(historyOf(...edited));
    expectBroken(s1Capacity, historyOf(...edited.slice(0, 3), give([first, second], 103)), '104', ' 1 allowed');
  });

  test('downloads are limited by the policies that the reconcile of their slots may have read', () => {
    const other = aVMDiskImage({ name: 'second', status: { ...second.status, phase: 'Syncing', attempt: 1 } });
    const begun = [download(syncing), download(other)];
    const history = (since?: number) =>
      historyOf(limit('2'), give([]), limit('0'), give([first, second], since), ...begun);
    expect(check(history(), [s1Capacity])).toEqual([]);
    expect(check(history(102), [s1Capacity])).toEqual([]);
    expectBroken(s1Capacity, history(103), '104', ' 0 allowed');
  });

  test('an image that gets its slot back because it was downloading is not new, even if the download has ended since', () => {
    const running = download(syncing, { phase: 'ImportInProgress' });
    for (const end of [gone(running), download(syncing, { phase: 'Succeeded' })]) {
      const history = (since: number) =>
        historyOf(limit('1'), give([second]), running, end, give([second, first], since));
      expect(check(history(103), [s1Capacity])).toEqual([]);
      expectBroken(s1Capacity, history(104), '105', ' 1 allowed');
    }
  });

  test('more downloads than the limit are reported, but a phase that CDI takes back is no download', () => {
    const other = aVMDiskImage({ name: 'second', status: { ...second.status, phase: 'Syncing', attempt: 1 } });
    const begun = [limit('1'), give([]), give([first], 102), download(syncing)];
    expectBroken(s1Capacity, historyOf(...begun, download(other)), '105', '2 images download');
    const [done, pending] = [download(syncing, { phase: 'Succeeded' }), download(syncing, { phase: '' })];
    expect(check(historyOf(...begun, done, pending, download(other)), [s1Capacity])).toEqual([]);
    const importer = anImporter(first, { phase: 'Running' });
    const still = [...begun, done, pending, importer, download(other)];
    expectBroken(s1Capacity, historyOf(...still), '108', '2 images download');
  });

  test('an attempt continues after the queue was paused and the Lease rebuilt or edited, even if its DataVolume is made again', () => {
    const running = download(syncing);
    const begun = [limit('1'), give([]), give([first], 102), running, limit('0')];
    const rebuilt = [...begun, gone(granted(first)), give([first], 106), gone(running), running];
    expect(check(historyOf(...rebuilt), [s1Capacity])).toEqual([]);
    const edited = [...begun, by('user', granted(second)), gone(running), give([second, first], 106), running];
    expect(check(historyOf(...edited), [s1Capacity])).toEqual([]);
    const other = aVMDiskImage({ name: 'second', status: { ...second.status, phase: 'Syncing', attempt: 1 } });
    expectBroken(s1Capacity, historyOf(...rebuilt, download(other)), '110', '2 images download');
  });

  test('what a user writes into the Lease is not judged', () => {
    expectHolds(historyOf(limit('0'), give([]), by('user', granted(first))));
  });
});

describe('B2', () => {
  const budget = (egressBudget: string) => by('user', aPolicy({ egressBudget, concurrency: '4' }));
  const only = (...changes: Parameters<typeof aHistory>[0]) => check(historyOf(...changes), [b2Budget]);

  test('an attempt begins while something of the budget is left', () => {
    expect(only(budget('25Gi/1d'), give([]), give([first, second], 102))).toEqual([]);
    expect(only(budget('24Gi/1d'), give([]), give([first], 102), give([], 103))).toEqual([]);
    const spent = [budget('24Gi/1d'), give([]), give([first, second], 102)];
    expectBroken(b2Budget, historyOf(...spent), '103', 'although the budget is spent');
    const after = [budget('24Gi/1d'), give([]), give([first], 102), give([first, second], 103)];
    expectBroken(b2Budget, historyOf(...after), '104', 'although the budget is spent');
  });

  test('a policy that the reconcile may have read counts, and a Lease that others changed forgets', () => {
    expect(only(give([]), budget('1Gi/1d'), give([first], 101), give([first, second], 101))).toEqual([]);
    expect(only(budget('1Gi/1d'), give([]), give([first], 102), by('user', granted()), give([second], 104))).toEqual(
      [],
    );
  });
});

describe('S2', () => {
  test('an image holds a slot from before the DataVolume exists until it is Succeeded', () => {
    const done = download(syncing, { phase: 'Succeeded' });
    expectHolds(historyOf(give([]), give([first]), download(syncing), done, give([])));
  });

  test('a DataVolume without a slot is reported once', () => {
    const history = historyOf(give([]), download(syncing), download(syncing));
    expectBroken(
      s2SlotHeld,
      history,
      '102',
      `DataVolume ${download(syncing).metadata.name} is in flight without a slot`,
    );
  });

  test('a slot that is released too early is reported', () => {
    const history = historyOf(give([]), give([first]), download(syncing), give([]));
    expectBroken(s2SlotHeld, history, '104', 'in flight without a slot');
  });

  test('a phase that CDI takes back is no download', () => {
    const [done, pending] = [download(syncing, { phase: 'Succeeded' }), download(syncing, { phase: '' })];
    expectHolds(historyOf(give([]), give([first]), download(syncing), done, give([]), pending));
  });

  test('a DataVolume that is being deleted needs no slot', () => {
    const going = leaving(download(syncing));
    expectHolds(historyOf(give([]), give([first]), download(syncing), going, give([])));
  });

  test('nothing is judged while the Lease is unreadable, and everything after it is rebuilt', () => {
    const lost = [give([]), give([first]), download(syncing), garbled()];
    expectHolds(historyOf(...lost, download(syncing), give([first])));
    expectBroken(s2SlotHeld, historyOf(...lost, give([])), '105', 'without a slot');
  });

  test('a slot that a user removed comes back unless the image is at rest', () => {
    const failed = aVMDiskImage({ name: 'first', status: { ...syncing.status, phase: 'Failed' } });
    const taken = [give([]), give([first]), syncing, download(syncing), by('user', granted())];
    expectBroken(s2SlotHeld, historyOf(...taken, give([second], 105)), '106', 'without a slot');
    expect(check(historyOf(...taken, failed, give([second], 106)), [s2SlotHeld])).toEqual([]);
  });

  test('a slot is not released while its reconcile can see a running importer Pod', () => {
    const importer = anImporter(first);
    const begun = [give([]), give([first]), download(syncing), importer, gone(download(syncing))];
    expectBroken(s2SlotHeld, historyOf(...begun, give([], 105)), '106', 'importer importer-pod-1 runs');
    expectHolds(historyOf(...begun, give([], 103)));
    expectHolds(historyOf(...begun, gone(importer), give([], 106)));
    expectHolds(historyOf(...begun, anImporter(first, { phase: 'Succeeded' }), give([], 106)));
  });

  test('nothing is judged while changes were missed', () => {
    const history = aHistory([give([]), download(syncing)], { before, gaps: [{ after: 101, until: 102 }] });
    expect(check(history, [s2SlotHeld])).toEqual([]);
  });
});

describe('S3', () => {
  test('an image holds one slot under its own name', () => {
    expectHolds(historyOf(give([]), give([first, second])));
  });

  test('a duplicate uid is reported although it makes the Lease unreadable', () => {
    expectBroken(s3Identity, historyOf(give([]), give([first, first])), '102', 'uid-first holds two slots');
  });

  test('a slot for a uid that the image never had is reported', () => {
    const recreated = aVMDiskImage({ name: 'first', uid: 'another' });
    const history = historyOf(give([]), give([recreated]));
    expectBroken(s3Identity, history, '102', 'uid another got a slot as vmdi-farm/first, which never had that uid');
  });

  test('a DataVolume belongs to the image whose uid is in its label', () => {
    const [own, others] = [download(first), download(second)];
    const mixed = { ...own, metadata: { ...own.metadata, ownerReferences: others.metadata.ownerReferences } };
    const history = historyOf(give([]), give([first]), mixed);
    expectBroken(s3Identity, history, '103', 'carries uid uid-first and belongs to uid-second');
  });

  test('an image that is created again starts without the attempts of the earlier one', () => {
    const recreated = { name: 'first', uid: 'another' };
    const begun = (attempts: number) =>
      aVMDiskImage({ ...recreated, status: { ...first.status, attempt: attempts, attempts } });
    const life = [give([]), give([first]), download(syncing, { phase: 'Succeeded' }), aVMDiskImage(recreated)];
    expectHolds(historyOf(...life, begun(0)));
    expectBroken(s3Identity, historyOf(...life, begun(1)), '105', 'begins with 1 attempts, its own are 0');
  });
});

/** The image with what an inspection found for its present place in the queue. */
const having = (image: VMDiskImage, status: VMDiskImage['status']): VMDiskImage => ({
  ...image,
  status: { ...image.status, ...status },
});
const ofContent = (image: VMDiskImage, content: string): VMDiskImage => ({
  ...image,
  status: { ...image.status, source: { content, inspectedAt: at(0), queuedAt: image.status?.queuedAt ?? '' } },
});

const inspected = (image: VMDiskImage, reason: string): VMDiskImage =>
  ({
    ...image,
    status: {
      ...image.status,
      source: { inspectedAt: at(0), queuedAt: image.status?.queuedAt },
      conditions: [{ type: 'SourceInspected', status: 'False', reason, message: '', lastTransitionTime: at(0) }],
    },
  }) as VMDiskImage;

describe('S4', () => {
  const uninspected = aPolicy({});
  test('the image that waited longest gets the slot', () => {
    expectHolds(
      aHistory([give([]), give([first], 101), give([first, second], 102)], { before: [uninspected, ...before] }),
    );
  });

  test('overtaking an image that waited longer is reported', () => {
    const history = aHistory([give([]), give([second], 101)], { before: [uninspected, ...before] });
    expectBroken(s4Fifo, history, '102', 'vmdi-farm/second got a slot before first, which waited longer');
  });

  test('at the same time the uid decides', () => {
    const [a, b] = [queued('a', 1), queued('b', 1)];
    expectHolds(aHistory([give([]), give([a], 101)], { before: [uninspected, a, b] }));
    expectBroken(s4Fifo, aHistory([give([]), give([b], 101)], { before: [uninspected, a, b] }), '102', 'before a');
  });

  test('an image whose namespace has all of its slots is not overtaken', () => {
    const other = aVMDiskImage({ name: 'other', namespace: 'tenant', status: third.status ?? {} });
    const all = { before: [uninspected, first, second, other] };
    const perNamespace = (most: string) => by('user', aPolicy({ slotsPerNamespace: most }));
    expectHolds(aHistory([perNamespace('1'), give([first]), give([first, other], 102)], all));
    const history = aHistory([perNamespace('2'), give([first]), give([first, other], 102)], all);
    expectBroken(s4Fifo, history, '103', 'other got a slot before second, which waited longer');
  });

  test('an image is not overtaken while another of its namespace downloads its content', () => {
    const same = before.slice(0, 2).map((image) => ofContent(image, 'same'));
    const [one, two] = same as [VMDiskImage, VMDiskImage];
    const other = ofContent(third, 'other');
    const begun = having(one, { phase: 'Syncing' });
    const begins = [give([]), give([one], 101), by('start-sync', begun)];
    const all = { before: [uninspected, one, two, other] };
    expectHolds(aHistory([...begins, give([one, other], 103)], all));
    expectHolds(aHistory([give([]), give([one, other], 101)], all));
    const overtakes = 'vmdi-farm/third got a slot before second, which waited longer';
    const cloned = having(begun, { sharedFrom: { image: 'a', snapshot: 'a-r1' } });
    const clones = [give([]), give([one], 101), by('start-sync', cloned), give([one, other], 103)];
    expectBroken(s4Fifo, aHistory(clones, all), '104', overtakes);
    const ended = by('follow-sync', having(begun, { phase: 'Succeeded' }));
    expectBroken(s4Fifo, aHistory([...begins, ended, give([one, other], 104)], all), '105', overtakes);
    const requested = having(two, { syncRequested: 'today' });
    const asked = { before: [uninspected, one, requested, other] };
    expectBroken(s4Fifo, aHistory([...begins, give([one, other], 103)], asked), '104', overtakes);
  });

  test('only images that waited when the reconcile began can be overtaken', () => {
    expectHolds(aHistory([give([]), by('start-sync', first), give([second], 101)], { before: [uninspected, second] }));
    const failed = aVMDiskImage({ name: 'first', status: { ...first.status, phase: 'Failed' } });
    expectHolds(
      aHistory([give([]), by('start-sync', failed), give([second], 101)], { before: [uninspected, first, second] }),
    );
    expectHolds(aHistory([give([]), leaving(first), give([second], 101)], { before: [uninspected, first, second] }));
  });

  test('an image that is not yet Queued is overtaken only by an image of a later second', () => {
    const unseen = aVMDiskImage({ name: 'unseen', createdAfterSeconds: 2 });
    const history = aHistory([give([]), give([third], 101)], { before: [uninspected, unseen, third] });
    expectBroken(s4Fifo, history, '102', 'before unseen');
    expectHolds(aHistory([give([]), give([second], 101)], { before: [uninspected, unseen, second] }));
  });

  test('if the start of a reconcile is unknown, the time in the Lease counts', () => {
    const lease = granted(second);
    const late = { ...lease, spec: { ...lease.spec, renewTime: at(3) } };
    const told = (renewed: typeof lease) =>
      aHistory([granted(), first, second, second, renewed], { before: [uninspected] });
    expectBroken(s4Fifo, told(late), '105', 'before first');
    expectHolds(told({ ...lease, spec: { ...lease.spec, renewTime: at(1) } }));
  });

  test('an image whose source is not inspected yet is not overtaken, unless no policy asks for that', () => {
    const asks = { before: [aPolicy({ inspectTimeout: '30s' }), first, second] };
    expectHolds(aHistory([give([]), give([second], 102)], asks));
    const [known, next] = [first, second].map((image) => by('inspect-source', inspected(image, 'Inspected')));
    if (!known || !next) throw new Error('expected two images');
    const history = aHistory([give([]), known, next, give([second], 103)], asks);
    expectBroken(s4Fifo, history, '104', 'vmdi-farm/second got a slot before first, which waited longer');
    // A cache that is as new as the second may not have heard of what came after it.
    expect(check(aHistory([give([]), next, known, give([second], 103)], asks), [s4Fifo])).toEqual([]);
  });
});

describe('S20', () => {
  const missing = inspected(first, 'SourceMissing');
  const all = { before: [aPolicy({ inspectTimeout: '30s' }), first] };

  test('an image whose source can never work gets no slot', () => {
    const history = aHistory([give([]), by('inspect-source', missing), give([missing], 102)], all);
    expectBroken(s20Inspected, history, '103', 'vmdi-farm/first gets a slot although its source can never work');
  });

  test('a slot that was given before that was known is no mistake, nor is one of a source that cannot be reached', () => {
    const late = aHistory([give([]), by('inspect-source', missing), give([missing], 101)], all);
    expect(check(late, [s20Inspected])).toEqual([]);
    const away = inspected(first, 'SourceUnreachable');
    expect(check(aHistory([give([]), by('inspect-source', away), give([away], 102)], all), [s20Inspected])).toEqual([]);
  });

  test('it neither begins to sync nor gets a DataVolume', () => {
    const begun = { ...missing, status: { ...missing.status, phase: 'Syncing', attempt: 1 } } as VMDiskImage;
    const history = aHistory([by('inspect-source', missing), by('start-sync', begun)], all);
    expectBroken(s20Inspected, history, '102', 'first begins to sync although its source can never work');
    const made = aHistory([by('inspect-source', missing), by('start-sync', download(begun))], all);
    expectBroken(s20Inspected, made, '102', 'is made although its source can never work');
  });

  test('a verdict on an earlier place in the queue says nothing, and none does while nothing is inspected', () => {
    const again = { ...missing, status: { ...missing.status, queuedAt: at(50) } } as VMDiskImage;
    expect(check(aHistory([give([]), by('start-sync', again), give([again], 102)], all), [s20Inspected])).toEqual([]);
    const off = { before: [aPolicy({}), first] };
    const history = aHistory([give([]), by('inspect-source', missing), give([missing], 102)], off);
    expect(check(history, [s20Inspected])).toEqual([]);
  });
});

describe('S15', () => {
  const idle = aVMDiskImage({ name: 'first', status: { ...syncing.status, phase: 'Failed' } });
  const life = [give([]), give([first]), syncing, anImporter(syncing), idle];
  const endingAt = (second: number) => ({ before, stillFromMs: 0, endMs: Date.parse(at(second)) });

  test('a slot is released within a sweep after its importer Pod ends', () => {
    const written = [...life, gone(anImporter(syncing)), { ...give([]), atMs: Date.parse(at(30)) }];
    expect(check(aHistory(written, endingAt(100)), [s15SlotLeak])).toEqual([]);
  });

  test('a slot that stays longer is reported', () => {
    const history = aHistory([...life, gone(anImporter(syncing))], endingAt(45));
    expectBroken(s15SlotLeak, history, '106', 'the slot of vmdi-farm/first has been idle for 40000 ms');
  });

  test('a running importer Pod keeps the slot', () => {
    expect(check(aHistory(life, endingAt(100)), [s15SlotLeak])).toEqual([]);
  });

  test('if Pods were not recorded, ten minutes more are allowed', () => {
    const withoutPods = life.filter((one) => 'object' in one || one.kind !== 'Pod');
    expect(check(aHistory(withoutPods, endingAt(600)), [s15SlotLeak])).toEqual([]);
    expectBroken(s15SlotLeak, aHistory(withoutPods, endingAt(700)), '104', 'idle for');
  });
});

describe('L2', () => {
  const still = (second: number) => ({
    before: [aPolicy({}), first],
    stillFromMs: Date.parse(at(0)),
    endMs: Date.parse(at(second)),
  });

  test('a free slot is taken within a sweep', () => {
    expect(check(aHistory([give([]), give([first])], still(100)), [l2WorkConserving])).toEqual([]);
  });

  test('a slot that stays free while an image waits is reported', () => {
    expectBroken(l2WorkConserving, aHistory([give([])], still(60)), '101', 'free for 60000 ms while 1 images waited');
  });

  test('the clock skew adds only its own length', () => {
    const apart = { ...still(60), skewMs: 11_000 };
    expect(check(aHistory([give([])], { ...apart, endMs: Date.parse(at(55)) }), [l2WorkConserving])).toEqual([]);
    expectBroken(l2WorkConserving, aHistory([give([])], apart), '101', 'free for 60000 ms');
  });

  test('an image may wait while the policy gives no slot, and before the faults end', () => {
    const paused = [by('user', aPolicy({ concurrency: '0' })), give([])];
    expect(check(aHistory(paused, still(100)), [l2WorkConserving])).toEqual([]);
    expect(check(aHistory([give([])], { before: [first], endMs: Date.parse(at(100)) }))).toEqual([]);
  });

  test('an image may wait for its inspection, and waits for a slot once that is over', () => {
    const asks = { ...still(100), before: [aPolicy({ inspectTimeout: '30s' }), first] };
    expect(check(aHistory([give([])], asks), [l2WorkConserving])).toEqual([]);
    const history = aHistory([give([]), by('inspect-source', inspected(first, 'NotInspected'))], asks);
    expectBroken(l2WorkConserving, history, '102', 'while 1 images waited');
  });

  test('an image may wait while another downloads its content, and no longer', () => {
    const [one, two] = [ofContent(first, 'same'), ofContent(second, 'same')];
    const begun = by('start-sync', having(one, { phase: 'Syncing', attempt: 1 }));
    const all = { ...still(100), before: [aPolicy({}), one, two] };
    expect(check(aHistory([give([one]), begun], all), [l2WorkConserving])).toEqual([]);
    const over = by('follow-sync', having(one, { phase: 'Succeeded' }));
    expectBroken(l2WorkConserving, aHistory([give([one]), begun, over], all), '103', 'while 1 images waited');
  });
});

describe('L4', () => {
  const lost = [give([]), give([first]), by('start-sync', download(syncing)), garbled()];

  test('a broken or deleted Lease is rebuilt from the downloads', () => {
    expectHolds(historyOf(...lost, give([first], 104)));
    const deleted = [...lost.slice(0, 3), by('user', granted(first), { isGone: true })];
    expectHolds(historyOf(...deleted, give([first], 104)));
  });

  test('a rebuilt Lease that misses a download, or lists an image that does not download, is reported', () => {
    const without = historyOf(...lost, give([], 104));
    expectBroken(l4Recovery, without, '105', 'rebuilt without the image of first-');
    const stranger = historyOf(...lost, give([first, second], 104));
    expectBroken(l4Recovery, stranger, '105', 'rebuilt with vmdi-farm/second, which never downloaded anything');
  });

  test('a Lease that is unreadable at rest is reported', () => {
    const history = aHistory([give([]), garbled()], { stillFromMs: 0 });
    expectBroken(l4Recovery, history, '102', 'the Lease was lost and is not rebuilt');
  });

  test('an image is not refused with the spec with which it was Succeeded', () => {
    const [was, is] = [
      aVMDiskImage({ status: { phase: 'Succeeded' } }),
      aVMDiskImage({
        status: {
          phase: 'Failed',
          conditions: [
            { type: 'Ready', status: 'False', reason: 'SourceNotAllowed', message: '', lastTransitionTime: at(0) },
          ],
        },
      }),
    ];
    expectBroken(l4Recovery, aHistory([was, is], { stillFromMs: 0 }), '102', 'ubuntu was Succeeded with the same spec');
    const other = { ...is, spec: { ...is.spec, url: 'https://elsewhere/images/ubuntu' } };
    expect(check(aHistory([was, other], { stillFromMs: 0 }), [l4Recovery])).toEqual([]);
  });
});
