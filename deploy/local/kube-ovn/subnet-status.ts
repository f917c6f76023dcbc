import { toTime } from '../../../shared/kubernetes/time.ts';
import { cidrIn, countIn } from '../cidr.ts';
import { type Contents, transitionTime } from '../controller/conditions.ts';
import type { Condition } from '../controller/kinds.ts';
import { countExcluded } from './format-subnet.ts';
import type { SubnetSpec, SubnetStatus } from './kinds.ts';

/** Sets conditions where they stand; a new one comes last. Go writes no empty message. */
function withConditions(before: readonly Condition[], next: readonly Contents[], nowMs: number): Condition[] {
  const conditions = [...before];
  for (const { type, status, reason, message } of next) {
    const at = conditions.findIndex((condition) => condition.type === type);
    const old = conditions[at];
    if (old?.status === status && old.reason === reason && old.message === message) continue;
    conditions[at < 0 ? conditions.length : at] = {
      type,
      status,
      ...(reason ? { reason } : {}),
      ...(message ? { message } : {}),
      lastUpdateTime: toTime(nowMs),
      lastTransitionTime: transitionTime(old, status, nowMs),
    };
  }
  return conditions;
}

/** The spec holds by itself. */
export const validated = (status: SubnetStatus, nowMs: number): SubnetStatus => ({
  ...status,
  conditions: withConditions(
    status.conditions ?? [],
    [{ type: 'Validated', status: 'True', reason: 'ValidateLogicalSwitchSuccess' }],
    nowMs,
  ),
});

/** Something is wrong with the Subnet, or went wrong with it. An Error condition is never removed. */
export function failed(status: SubnetStatus, reason: string, message: string, nowMs: number): SubnetStatus {
  const isRefused = reason === 'ValidateLogicalSwitchFailed';
  const next: Contents[] = [
    { type: 'Error', status: 'True', reason, message },
    isRefused
      ? { type: 'Validated', status: 'False', reason, message }
      : { type: 'Validated', status: 'True', reason, message: undefined },
    { type: 'Ready', status: 'False', reason, message },
  ];
  return { ...status, conditions: withConditions(status.conditions ?? [], next, nowMs) };
}

/** The network exists. */
export function ready(status: SubnetStatus, reason: string, nowMs: number): SubnetStatus {
  const before = status.conditions ?? [];
  const unseen = ['Ready', 'Validated', 'Error']
    .filter((type) => !before.some((condition) => condition.type === type))
    .map((type): Contents => ({ type, status: 'Unknown', reason: 'Init', message: 'Not Observed' }));
  const next: Contents[] = [
    ...unseen,
    { type: 'Validated', status: 'True', reason, message: undefined },
    { type: 'Ready', status: 'True', reason, message: undefined },
  ];
  return { ...status, conditions: withConditions(before, next, nowMs) };
}

/** How many addresses are taken, and how many are left. */
export function counted(status: SubnetStatus, spec: SubnetSpec, using: number): SubnetStatus {
  const of = (bits: 32 | 128) => {
    const cidr = (spec.cidrBlock ?? '')
      .split(',')
      .flatMap((text) => cidrIn(text) ?? [])
      .find((range) => range.bits === bits);
    return cidr
      ? { used: using, left: Math.max(0, countIn(cidr) - countExcluded(spec, bits) - using) }
      : { used: 0, left: 0 };
  };
  const [v4, v6] = [of(32), of(128)];
  return { ...status, v4usingIPs: v4.used, v4availableIPs: v4.left, v6usingIPs: v6.used, v6availableIPs: v6.left };
}
