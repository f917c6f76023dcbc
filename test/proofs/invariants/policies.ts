import type { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { type Policy, policyOf } from './plain-policy.ts';

/** A policy and when it was replaced. */
interface InForce {
  policy: Policy;
  untilRevision: number;
  untilMs: number;
}

/**
 * The present and all earlier policies: a reconcile decides by the policy that it read, which may have changed by the time of its write.
 */
export interface Policies {
  now: Policy;
  edits: InForce[];
}

export const policiesFrom = (configMap: ConfigMap | undefined): Policies => ({ now: policyOf(configMap), edits: [] });

/** Records an edit; undefined is a deletion. */
export function edit(policies: Policies, configMap: ConfigMap | undefined, untilRevision: number, untilMs: number) {
  policies.edits.push({ policy: policies.now, untilRevision, untilMs });
  policies.now = policyOf(configMap);
}

/** Every policy that a reconcile may have read if it began then. */
export function readableFrom({ now, edits }: Policies, began: { revision?: number | undefined; ms: number }): Policy[] {
  if (edits.length === 0) return [now];
  const old = edits.filter(({ untilRevision, untilMs }) =>
    began.revision === undefined ? untilMs >= began.ms : untilRevision > began.revision,
  );
  return [now, ...old.map(({ policy }) => policy)];
}
