import type { Action } from '../../shared/actions.ts';
import type { DeadLetter } from '../../shared/function.ts';
import { Event } from '../../shared/kinds/core/event.ts';
import type { KubernetesObject } from '../../shared/kinds/resource.ts';
import { hashedName } from '../../shared/kubernetes/names.ts';
import type { Refusals } from '../../shared/kubernetes/refusal.ts';
import { toTime } from '../../shared/kubernetes/time.ts';
import { operatorNamespace } from '../../shared/operator.ts';
import type { Reason } from '../../shared/reasons/reason.ts';
import { type Group, sentenceOf } from './sentence.ts';

/** The similar dead letters of one reconcile, and where to show them. */
export interface Observed extends Group {
  /** The failing function's Trigger, or the Broker; absent if neither could be read or the limit of shown letters is reached. */
  about: KubernetesObject | undefined;
  /** The Kubernetes Event about earlier letters like these, if any. */
  recorded: KubernetesObject | undefined;
  nowMs: number;
  refusals: Refusals;
}

/** Counts the letters and raises the count of the one Event for letters like them. */
export function decide({ refusals, about, recorded, nowMs, ...group }: Observed): Action[] {
  // The function reconciles again after a refusal: everything is counted already, and a refused Event is not retried.
  if (refusals.size > 0) return [];
  const attributes = { function: group.failed, event: group.tells };
  const counted: Action = { do: 'measure', metric: 'ot.dead.letters', value: group.letters.length, attributes };
  return about
    ? [counted, { do: 'apply', resource: Event, object: eventOf(group, about, recorded, nowMs) }]
    : [counted];
}

/** Letters by what they have in common, most of them first; `known` are the functions that there are. */
export function groupsOf(letters: readonly DeadLetter[], known: ReadonlySet<string>): Group[] {
  const groups = new Map<string, Group & { letters: DeadLetter[] }>();
  for (const letter of letters) {
    const failed = letter.failed !== undefined && known.has(letter.failed) ? letter.failed : 'unknown';
    const group = { failed, tells: tellsOf(letter), code: letter.code, letters: [] };
    const key = [group.failed, group.tells, group.code].join(' ');
    groups.set(key, groups.get(key) ?? group);
    groups.get(key)?.letters.push(letter);
  }
  return [...groups.values()].sort((a, b) => b.letters.length - a.letters.length);
}

/** What the Event about such letters is called. */
export const eventNameOf = ({ failed, tells, code = 'none' }: Group, { metadata }: KubernetesObject) =>
  hashedName(metadata.name, metadata.uid, reason, failed, tells, code);

const reason: Reason = 'DeadLetter';

function tellsOf({ type, about }: DeadLetter): Group['tells'] {
  if (type === 'dev.knative.sources.ping') return 'timer';
  return about && type.startsWith('dev.knative.apiserver.') ? 'object' : 'message';
}

function eventOf(group: Group, about: KubernetesObject, recorded: KubernetesObject | undefined, nowMs: number) {
  const { count: before, firstTimestamp } = (recorded ?? {}) as { count?: unknown; firstTimestamp?: unknown };
  const count = (typeof before === 'number' ? before : 0) + group.letters.length;
  const now = toTime(nowMs);
  const { name, namespace, uid } = about.metadata;
  return {
    metadata: { name: eventNameOf(group, about), namespace: operatorNamespace },
    involvedObject: { apiVersion: about.apiVersion, kind: about.kind, namespace, name, uid },
    type: 'Warning',
    reason,
    message: sentenceOf(group, count),
    source: { component: 'dead-letters' },
    reportingComponent: 'dead-letters',
    reportingInstance: 'dead-letters',
    firstTimestamp: typeof firstTimestamp === 'string' ? firstTimestamp : now,
    lastTimestamp: now,
    count,
  };
}
