import { budgetLeft, egressIn } from '../../../shared/images/egress.ts';
import { type Holder, holdersOf, leaseRef } from '../../../shared/images/slots.ts';
import { Lease } from '../../../shared/kinds/coordination/lease.ts';
import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { type Policy, parsePolicy } from '../../../shared/policy.ts';
import { readPolicyMap } from '../../../shared/runtime/read-policy.ts';
import type { Reader } from './reader.ts';

/** What the policy and the Lease say of the slots. */
export interface Slots {
  policyMap: ConfigMap | undefined;
  policy: Policy;
  lease: Lease | undefined;
  /** Undefined if the Lease cannot be read: any image may hold a slot then. */
  holders: readonly Holder[] | undefined;
  /** The bytes that the policy's egressBudget leaves; undefined without one. */
  bytesLeft: number | undefined;
}

/**
 * Undefined if the caches are behind. This process alone writes the Lease, and its cache is waited for, an edit of the policy is an event of
 * its own, and nothing is written by what the caches say.
 */
export async function cachedSlots({ cached, nowMs }: Reader): Promise<Slots | undefined> {
  const [policies, leases] = await Promise.all([cached?.(ConfigMap), cached?.(Lease)]);
  return policies && leases && slotsIn(policies[0], leases[0], nowMs);
}

export async function readSlots({ kube, nowMs }: Reader): Promise<Slots> {
  const [policyMap, lease] = await Promise.all([readPolicyMap(kube), kube.get(Lease, leaseRef)]);
  return slotsIn(policyMap, lease, nowMs);
}

function slotsIn(policyMap: ConfigMap | undefined, lease: Lease | undefined, nowMs: number): Slots {
  const policy = parsePolicy(policyMap);
  return { policyMap, policy, lease, holders: holdersOf(lease), bytesLeft: budgetLeft(policy, egressIn(lease), nowMs) };
}
