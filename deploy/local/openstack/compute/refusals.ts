import { Refusal } from '../refusal.ts';
import type { Asked } from '../route.ts';
import type { Server } from './state.ts';

/** Refuses who is no administrator, by the rule of Nova's policy. */
export function mustBeAdmin({ caller }: Asked, rule: string): void {
  if (!caller.isAdmin) throw new Refusal(403, `Policy doesn't allow os_compute_api:${rule} to be performed.`);
}

/** The error for a server that does not exist, or belongs to another project. */
export const noServer = (id: string) => new Refusal(404, `Instance ${id} could not be found.`);

/** Only an administrator works on a server that is locked. */
export function mustBeUnlocked({ id, isLocked }: Server, { caller }: Asked): void {
  if (isLocked && !caller.isAdmin) throw new Refusal(409, `Instance ${id} is locked`);
}
