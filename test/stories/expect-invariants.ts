import { check, describeViolation } from '../proofs/invariants/check.ts';
import type { History } from './history.ts';
import type { Story } from './world.ts';

/** Fails a story in which something was not as it always is (reliability reference, S1 to L5). */
export async function expectInvariants({ name, allows = [] }: Story, history: History): Promise<void> {
  const violations = check(await history.evidence()).filter(({ invariant }) => !allows.includes(invariant));
  if (violations.length === 0) return;
  const lines = violations.map((violation) => `  ${describeViolation(violation)}`);
  throw new Error(`What always holds was broken in "${name}":\n${lines.join('\n')}`);
}
