import { type Action, type AsRead, together } from '../actions.ts';
import type { OpenStackRequest } from '../kinds/openstack/request.ts';
import type { KubernetesObject } from '../kinds/resource.ts';
import { conditionOf } from '../kubernetes/conditions.ts';
import type { Refusals } from '../kubernetes/refusal.ts';
import { isNotSo, isSo, type NewCondition, type Reported, type StatusReport } from '../kubernetes/status.ts';
import { type Cause, repeated } from '../reasons/reason.ts';
import { sentence } from '../sentence.ts';
import { callKey } from './call-key.ts';

/** Why there is no OpenStack for a namespace, in one word and a sentence. */
export interface CloudFault {
  reason:
    | 'CredentialsMissing'
    | 'CredentialsInvalid'
    | 'CredentialsUnguarded'
    | 'CredentialsRefused'
    | 'EndpointNotAllowed'
    | 'ProjectRefused'
    | 'ProjectMissing'
    | 'Unreachable';
  message: string;
}

/** The condition about the way to OpenStack, which every kind has. */
export const cloudReady = isSo('CloudReady', 'Reached', 'OpenStack answers.');
const cloudNotReady = ({ reason, message }: CloudFault): NewCondition => isNotSo('CloudReady', reason, message);

/** Ready of the spec as it was written last. */
export const isReady = ({
  metadata,
  status,
}: Reported & { status?: { observedGeneration?: number | undefined } | undefined }) =>
  status?.observedGeneration === metadata.generation && conditionOf(status.conditions, 'Ready')?.status === 'True';

/** The state of an object whose OpenStack is unreachable; what runs there continues. */
export const unreachable = (fault: CloudFault, isKnown: boolean, fields: StatusReport['fields']): StatusReport => ({
  phase: isKnown ? 'Unknown' : 'Pending',
  isReady: false,
  ...fault,
  conditions: [cloudNotReady(fault)],
  fields,
});

/** A fault that heals within moments, without an event. */
export const requeueAfterFault = (fault: CloudFault, about: KubernetesObject): Action[] =>
  fault.reason === 'CredentialsUnguarded' ? [{ do: 'requeueAfter', about, afterMs: 500 }] : [];

/** A running task in OpenStack sends no event when it ends: it is looked at again after two seconds. */
export const requeueSoon = (about: KubernetesObject): Action => ({ do: 'requeueAfter', about, afterMs: 2000 });

type Thing = 'machine' | 'network' | 'server' | 'volume';

/** What was made for an object is found by its uid: of several, a user decides which stays. */
export const notUnique = (what: Thing, found: readonly { id: string }[]): Cause => ({
  reason: 'NotUnique',
  message: `Expected one ${what} of this object in OpenStack, found ${found
    .map(({ id }) => id)
    .sort()
    .join(', ')}: delete those that are not wanted.`,
});

export const describeRefused = (what: Thing, { message }: Cause) =>
  `OpenStack refuses the ${what} as it is asked for: ${sentence(message)}`;

/** Other refusals heal by themselves, or with another quota. */
export const isFinalRefusal = ({ reason }: Cause) => reason === 'Refused' || reason === 'Forbidden';

/** Undefined where nothing of the kind was refused in this reconcile. */
export function refusalOf(refusals: Refusals, of: AsRead, request: OpenStackRequest) {
  const found = refusals.get(callKey(of, request));
  return found && { ...found, reason: repeated(found.reason) };
}

/** The first of the requests that was refused; it is not asked for again in this reconcile. */
export const firstRefusal = (refusals: Refusals, of: AsRead, requests: readonly OpenStackRequest[]) =>
  requests.map((request) => refusalOf(refusals, of, request)).find((refused) => refused !== undefined);

/** Those requests that were not refused in this reconcile, as actions. */
export const callsFor = (
  of: AsRead & { apiVersion: string; kind: string },
  requests: readonly OpenStackRequest[],
  refusals: Refusals,
): Action[] =>
  together(
    requests
      .filter((request) => refusalOf(refusals, of, request) === undefined)
      .map((request) => [{ do: 'call', of, request }]),
  );
