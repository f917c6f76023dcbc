import { type Cause, forbidden, notSupported } from './schema-cause.ts';
import { badRequest, invalid, StatusError } from './status-error.ts';

interface Options {
  continue: string;
  resourceVersion: string;
  resourceVersionMatch: string;
}

/** Refuses (400, 422) a list's options that contradict each other, as ValidateListOptions of k8s.io/apimachinery does. */
export function assertListOptions({ continue: next, resourceVersion, resourceVersionMatch: match }: Options) {
  if (next && resourceVersion && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  if (!match) return;
  const field = 'resourceVersionMatch';
  const refuse = (cause: Cause) => {
    throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [cause]);
  };
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    refuse(notSupported(field, match, ['Exact', 'NotOlderThan', '']));
  }
  if (next) refuse(forbidden(field, 'resourceVersionMatch is forbidden with continue'));
  if (!resourceVersion)
    refuse(forbidden(field, 'resourceVersionMatch is forbidden unless resourceVersion is provided'));
  if (match === 'Exact' && resourceVersion === '0') {
    refuse(forbidden(field, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
}

/** The same for a watch. */
export function assertWatchOptions({ resourceVersionMatch: match }: Options, sendInitialEvents: boolean) {
  const why = sendInitialEvents
    ? match !== 'NotOlderThan' && 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'
    : match && 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided';
  if (!why) return;
  throw invalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', [forbidden('resourceVersionMatch', why)]);
}

/** Reads a resourceVersion parameter; '' and 0 are both "any". Throws 500 for any other text, as the real server does. */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0;
  if (/^\d+$/.test(text)) return Number(text);
  const found = JSON.stringify(text);
  const message = `resourceVersion: Invalid value: ${found}: strconv.ParseUint: parsing ${found}: invalid syntax`;
  throw new StatusError(500, '', message);
}
