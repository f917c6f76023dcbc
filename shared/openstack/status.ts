import { type Action, type Observed, together } from '../actions.ts';
import type { OpenStackRequest } from '../kinds/openstack/request.ts';
import type { Condition } from '../kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject, Resource } from '../kinds/resource.ts';
import { conditionOf, withCondition } from '../kubernetes/conditions.ts';
import { recordEvent, tellable } from '../kubernetes/events.ts';
import type { Refusals } from '../kubernetes/refusal.ts';
import { changesOf } from '../kubernetes/status-changes.ts';
import { toTime } from '../kubernetes/time.ts';
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

/** A condition as it should be; since when it is so is found out by comparing. */
export interface Finding {
  type: string;
  status: Condition['status'];
  /** One word, the same in condition, Event and status. */
  reason: string;
  message: string;
}

export const isSo = (type: string, reason: string, message: string): Finding => ({
  type,
  status: 'True',
  reason,
  message,
});
export const isNotSo = (type: string, reason: string, message: string): Finding => ({
  type,
  status: 'False',
  reason,
  message,
});

/** The condition about the way to OpenStack, which every kind has. */
export const cloudReady = isSo('CloudReady', 'Reached', 'OpenStack answers.');
export const cloudNotReady = ({ reason, message }: CloudFault): Finding => isNotSo('CloudReady', reason, message);

/** How an object on OpenStack stands, as one look at everything says. */
export interface CloudStanding {
  phase: string;
  isReady: boolean;
  reason: string;
  message: string;
  /** All conditions but Ready, which sums up. */
  findings: readonly Finding[];
  /** The other fields of the status; undefined where there is nothing to say. */
  fields: Readonly<Record<string, unknown>>;
}

type Standing = KubernetesObject & {
  status?: { phase?: string | undefined; conditions?: Condition[] | undefined } | undefined;
};

/** Ready of the spec as it was written last. */
export const isReady = ({
  metadata,
  status,
}: Standing & { status?: { observedGeneration?: number | undefined } | undefined }) =>
  status?.observedGeneration === metadata.generation && conditionOf(status.conditions, 'Ready')?.status === 'True';

/** Writes the state of an object if its status differs, with an Event if it has become Ready or Failed. */
export function standOnCloud(
  resource: Resource,
  object: Standing,
  { phase, isReady, reason, message: words, findings, fields }: CloudStanding,
  { nowMs }: { nowMs: number },
): Action[] {
  const before = object.status ?? {};
  const now = toTime(nowMs);
  const message = tellable(words);
  const observedGeneration = object.metadata.generation;
  const ready: Finding = { type: 'Ready', status: isReady ? 'True' : 'False', reason, message };
  const kept = new Set([...findings, ready].map(({ type }) => type));
  const conditions = [...findings, ready].reduce<Condition[]>(
    (list, finding) => withCondition(list, { ...finding, message: tellable(finding.message), observedGeneration }, now),
    (before.conditions ?? []).filter(({ type }) => kept.has(type)),
  );
  const changed = changesOf(before, { ...fields, phase, message, conditions, observedGeneration });
  if (Object.keys(changed).length === 0) return [];
  const said = conditionOf(before.conditions, 'Ready');
  const isNews =
    phase === 'Failed' ? before.phase !== 'Failed' || said?.reason !== reason : isReady && said?.status !== 'True';
  return [
    { do: 'patchStatus', resource, of: object, status: changed },
    ...(isNews ? [recordEvent(object, phase === 'Failed', reason, message, `${observedGeneration}/${now}`)] : []),
  ];
}

/** The state of an object whose OpenStack is unreachable; what runs there continues. */
export const standWithout = (fault: CloudFault, isKnown: boolean, fields: CloudStanding['fields']): CloudStanding => ({
  phase: isKnown ? 'Unknown' : 'Pending',
  isReady: false,
  ...fault,
  findings: [cloudNotReady(fault)],
  fields,
});

/** A fault that heals within moments, without an event. */
export const requeueAfterFault = (fault: CloudFault, about: KubernetesObject): Action[] =>
  fault.reason === 'CredentialsUnguarded' ? [{ do: 'requeueAfter', about, afterMs: 500 }] : [];

/** Undefined where nothing of the kind was refused in this pass. */
export const refusalOf = (refusals: Refusals, of: Observed, request: OpenStackRequest) =>
  refusals.get(callKey(of, request));

/** The first of the requests that was refused; it is not asked for again in this pass. */
export const firstRefusal = (refusals: Refusals, of: Observed, requests: readonly OpenStackRequest[]) =>
  requests.map((request) => refusalOf(refusals, of, request)).find((refused) => refused !== undefined);

/** Those requests that were not refused in this pass, as actions. */
export const callsFor = (
  of: Observed & { apiVersion: string; kind: string },
  requests: readonly OpenStackRequest[],
  refusals: Refusals,
): Action[] =>
  together(
    requests
      .filter((request) => refusalOf(refusals, of, request) === undefined)
      .map((request) => [{ do: 'call', of, request }]),
  );
