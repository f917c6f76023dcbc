import type { Action } from '../../shared/actions.ts';
import { redactUrl } from '../../shared/images/sources.ts';
import { patchStatus } from '../../shared/images/status.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import { conditionOf, withCondition } from '../../shared/kubernetes/conditions.ts';
import { redactMessage } from '../../shared/kubernetes/events.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import type { Inspection, Refreshed } from './observed.ts';
import { describeAnswer } from './status.ts';

interface Verdict {
  status: 'True' | 'False' | 'Unknown';
  reason: 'SourceChanged' | 'UpToDate' | 'SourceUnstable' | 'SourceUnreadable' | 'RefreshInvalid';
  message: string;
}

/** The ETag and the date that a server gave, as the status has them. */
export function identityFields({ etag, lastModified }: { [K in 'etag' | 'lastModified']?: string | undefined }) {
  const changedMs = Date.parse(lastModified ?? '');
  return {
    ...(etag === undefined ? {} : { etag: etag.slice(0, 256) }),
    ...(Number.isNaN(changedMs) ? {} : { lastModified: toTime(changedMs) }),
  };
}

/** What identifies the object that a server gave out: its ETag, or else when it was changed last. */
function identityOf(given: Parameters<typeof identityFields>[0]): string | undefined {
  const { etag, lastModified } = identityFields(given);
  return etag ?? lastModified;
}

const identityIn = (inspection: Refreshed['inspection']) =>
  'content' in inspection ? identityOf(inspection) : undefined;

/** The source as it was inspected for the present revision. */
const sourceOf = ({ status }: VMDiskImage) =>
  status?.source?.queuedAt === status?.queuedAt ? status?.source : undefined;

/** What the image was inspected with. Of a Succeeded image that was downloaded uninspected this is not known. */
const knownOf = (image: VMDiskImage) => identityOf(sourceOf(image) ?? {});
const isUnknown = (image: VMDiskImage) => knownOf(image) === undefined && image.status?.phase === 'Succeeded';

/** The inspection found another object than the image was inspected with. */
export function isOtherObject(image: VMDiskImage, inspection: Inspection): boolean {
  const found = identityIn(inspection);
  return found !== undefined && found !== knownOf(image) && !isUnknown(image) && !isOfSameDate(image, inspection);
}

/** Servers behind one address may give the same object different ETags. */
function isOfSameDate(image: VMDiskImage, inspection: Refreshed['inspection']): boolean {
  const { bytes, lastModified } = sourceOf(image) ?? {};
  if (!('content' in inspection) || bytes === undefined || lastModified === undefined) return false;
  return bytes === inspection.bytes && Date.parse(lastModified) === Date.parse(inspection.lastModified ?? '');
}

/** Says whether the source has changed; start-sync makes the next revision of what has. */
export function refresh({ refreshed: image, inspection, again, nowMs }: Refreshed): Action[] {
  const { status, spec, metadata } = image;
  const verdict = verdictOf(image, inspection, again);
  const before = conditionOf(status?.conditions, 'Stale');
  const message = redactMessage(verdict.message);
  const isFirst = isUnknown(image) && 'content' in inspection;
  const isReported = before
    ? before.status === verdict.status && before.message === message
    : verdict.status === 'False';
  const isTimed = spec.refresh !== 'OnChange' && verdict.reason !== 'RefreshInvalid';
  if (isReported && !isTimed && !isFirst) return [];
  const condition = { ...verdict, message, type: 'Stale', observedGeneration: metadata.generation };
  return [
    patchStatus(image, {
      ...(isReported ? {} : { conditions: withCondition(status?.conditions, condition, toTime(nowMs)) }),
      source: {
        ...(sourceOf(image) ? {} : { inspectedAt: toTime(nowMs), queuedAt: status?.queuedAt }),
        ...(isTimed ? { lookedAt: toTime(nowMs) } : {}),
        // From then on another one is a change.
        ...(isFirst ? { bytes: inspection.bytes ?? null, ...identityFields(inspection) } : {}),
        ...(verdict.reason === 'SourceChanged' ? { changed: { revision: status?.revision ?? 1 } } : {}),
      },
    }),
  ];
}

function verdictOf(image: VMDiskImage, inspection: Refreshed['inspection'], again: Inspection | undefined): Verdict {
  const { spec, status } = image;
  const url = redactUrl(spec.url);
  const revision = status?.revision ?? 1;
  if ('invalid' in inspection) {
    const message = `Expected spec.refresh to be OnChange or a cron expression, found ${JSON.stringify(spec.refresh)}: ${inspection.invalid}.`;
    return { status: 'Unknown', reason: 'RefreshInvalid', message };
  }
  const found = identityIn(inspection);
  if (found === undefined) {
    const why = 'content' in inspection ? 'the server names neither ETag nor Last-Modified' : describe(inspection);
    const message = `Whether ${url} has changed since revision ${revision} is not known: ${why}. Revision ${revision} stays.`;
    return { status: 'Unknown', reason: 'SourceUnreadable', message };
  }
  const known = knownOf(image);
  if (found === known || isUnknown(image) || isOfSameDate(image, inspection))
    return { status: 'False', reason: 'UpToDate', message: `Revision ${revision} matches the object at ${url}.` };
  if (again && identityIn(again) !== found) {
    const message = `${url} returns a different object each time: it is not downloaded again. Correct the server, or remove spec.refresh.`;
    return { status: 'Unknown', reason: 'SourceUnstable', message };
  }
  const message = `${url} has changed since revision ${revision} was inspected (${known ?? 'nothing'}, now ${found}); the next revision is downloaded in turn.`;
  return { status: 'True', reason: 'SourceChanged', message };
}

const describe = (inspection: Exclude<Inspection, { content: unknown }>) =>
  'notInspected' in inspection
    ? inspection.notInspected
    : 'unreachable' in inspection
      ? inspection.unreachable
      : describeAnswer(inspection);
