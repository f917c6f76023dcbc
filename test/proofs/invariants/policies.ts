import type { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { type Policy, policyOf } from './plain-policy.ts';

/** The policy between two edits. */
interface InForce {
  policy: Policy;
  untilRevision: number;
  untilMs: number;
}

/** What was in force when: a pass decides by what it read, not by what is there when it writes. */
export interface Policies {
  now: Policy;
  edits: InForce[];
}

export const policiesFrom = (configMap: ConfigMap | undefined): Policies => ({
  now: policyOf(configMap),
  edits: [],
});

/** Notes an edit; undefined is its deletion. */
export function edit(policies: Policies, configMap: ConfigMap | undefined, untilRevision: number, untilMs: number) {
  policies.edits.push({ policy: policies.now, untilRevision, untilMs });
  policies.now = policyOf(configMap);
}

/** Every policy that a pass may have read which began then. */
export function readableFrom({ now, edits }: Policies, began: { revision?: number | undefined; ms: number }): Policy[] {
  if (edits.length === 0) return [now];
  const old = edits.filter(({ untilRevision, untilMs }) =>
    began.revision === undefined ? untilMs >= began.ms : untilRevision > began.revision,
  );
  return [now, ...old.map(({ policy }) => policy)];
}
