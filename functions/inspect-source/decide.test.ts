import { describe, expect, test } from 'vitest';
import { sharedContentOf } from '../../shared/images/shared-content.ts';
import type { VMDiskImageStatus } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { parsePolicy } from '../../shared/policy.ts';
import { at, aVMDiskImage, start } from '../../test/support/builders/images.ts';
import type { Content } from './content.ts';
import { decide } from './decide.ts';
import type { Inspection } from './observed.ts';

const queued: VMDiskImageStatus = { phase: 'Queued', revision: 1, queuedAt: at(0) };
const image = aVMDiskImage({ status: queued, spec: { diskSize: '2Gi' }, generation: 3 });

const plain = parsePolicy({ data: { inspectTimeout: '30s' } });

const decided = (inspection: Inspection, one = image, seconds = 10, policy = plain) =>
  decide({ nowMs: start + seconds * 1000, image: one, inspection, policy });

const found = (content: Content, more: object = {}): Inspection => ({
  bytes: 1_048_576,
  etag: '"abc"',
  lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT',
  content,
  isCut: false,
  ...more,
});
const qcow2: Content = { format: 'qcow2', virtualSize: 2 ** 31 };

function written(inspection: Inspection, policy = plain) {
  const [patch] = decided(inspection, image, 10, policy);
  if (patch?.do !== 'patchStatus') throw new Error('expected a write');
  const { source, conditions } = patch.status as { source: object; conditions: { reason: string; status: string }[] };
  return { source, condition: conditions[0] };
}

describe('what is found', () => {
  test('is written with the place in the queue that it was found for', () => {
    expect(written(found(qcow2))).toEqual({
      source: {
        ...{ bytes: 1_048_576, format: 'qcow2', virtualSize: 2 ** 31, etag: '"abc"' },
        content: sharedContentOf(image, { bytes: 1_048_576, etag: '"abc"' }),
        lastModified: '2026-01-01T00:00:00Z',
        inspectedAt: '2026-01-01T00:00:10Z',
        queuedAt: at(0),
        ...{ lookedAt: null, changed: null },
      },
      condition: {
        ...{ type: 'SourceInspected', status: 'True', reason: 'Inspected' },
        message: 'qcow2 of 1Mi, a disk of 2Gi.',
        observedGeneration: 3,
        lastTransitionTime: '2026-01-01T00:00:10Z',
      },
    });
  });

  test('replaces what was found before', () => {
    expect(written({ status: 404, code: undefined }).source).toMatchObject({ bytes: null, format: null, etag: null });
  });

  test.each<[Inspection, string, string, RegExp]>([
    [
      { status: 404, code: 'NoSuchKey' },
      'False',
      'SourceMissing',
      /found none \(404 NoSuchKey\)\. Correct url, which starts a download, or upload the object and then request one: kubectl annotate vmdi/,
    ],
    [{ status: 400, code: 'InvalidBucketName' }, 'False', 'SourceMissing', /found none \(400 InvalidBucketName\)/],
    [{ status: 400, code: 'KeyTooLongError' }, 'False', 'SourceMissing', /found none/],
    [
      { status: 403, code: 'AccessDenied' },
      'False',
      'SourceForbidden',
      /or what they may read \(S3 says so of a missing object, too, to keys that may not list its bucket\)/,
    ],
    [
      { status: 403, code: undefined },
      'False',
      'SourceForbidden',
      /\(HTTP 403\)\. Correct the keys in Secret s3-reader/,
    ],
    [found({ format: undefined, instead: 'an HTML page' }), 'False', 'NotAnImage', /found an HTML page/],
    [found(qcow2, { isCut: true }), 'False', 'ImageTruncated', /longer than the 1Mi that are there/],
    [found({ ...qcow2, virtualSize: 2 ** 31 + 1 }), 'False', 'DiskTooSmall', /at most 2Gi.*2Gi \(2147483649 bytes\)/],
    [found({ ...qcow2, backingFile: 'base.img' }), 'False', 'BackingFile', /needs its backing file "base.img"/],
    [{ unreachable: 'ECONNREFUSED' }, 'False', 'SourceUnreachable', /ECONNREFUSED\. Correct url.*30 s after/],
    [{ notInspected: 'a registry is not looked into' }, 'Unknown', 'NotInspected', /^Not inspected: a registry/],
    [found({ format: undefined, virtualSize: 2 ** 30 }), 'True', 'UnknownFormat', /downloaded as a raw disk/],
    [found({ format: 'vhdx' }), 'True', 'Inspected', /^vhdx of 1Mi\.$/],
  ])('%j is %s %s', (inspection, status, reason, said) => {
    expect(written(inspection).condition).toMatchObject({ status, reason, message: expect.stringMatching(said) });
  });

  test('has an Event only if it may be no raw disk', () => {
    const events = (inspection: Inspection) => decided(inspection).filter((action) => action.do === 'recordEvent');
    expect(events(found({ format: undefined, virtualSize: 4096 }))).toMatchObject([
      { type: 'Warning', reason: 'UnknownFormat' },
    ]);
    expect(events(found(qcow2))).toEqual([]);
  });
});

test('a URL is shown without what may be a signature in it', () => {
  const signed = aVMDiskImage({ status: queued, spec: { url: 'https://h.example/a.img?X-Amz-Signature=secret' } });
  const said = decided({ status: 404, code: undefined }, signed).map((action) => 'status' in action && action.status);
  const text = JSON.stringify(said);
  expect(text).toContain('https://h.example/a.img');
  expect(text).not.toContain('secret');
});

test('a source that cannot be reached is waited for without end where there is a budget', () => {
  const policy = parsePolicy({ data: { egressBudget: '1Gi/1d' } });
  const message = expect.stringMatching(/the image waits until it can, as the policy has an egressBudget\.$/);
  expect(written({ unreachable: 'no' }, policy).condition).toMatchObject({ message });
});

test.each([
  [1, 2],
  [10, 10],
  [100_000, 300],
])('a source that cannot be reached %d s after its image was queued is looked at again %d s later', (waited, later) => {
  expect(decided({ unreachable: 'no' }, image, waited)).toContainEqual(
    expect.objectContaining({ do: 'requeueAfter', afterMs: later * 1000 }),
  );
});

test('what a reconcile has no room for is left to the next', () => {
  const postponed = { namespace: 'vmdi-farm', name: 'late' };
  expect(decide({ postponed, afterMs: 0 })).toMatchObject([{ do: 'requeueAfter', about: { metadata: postponed } }]);
});
