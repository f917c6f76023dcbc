import type { ComponentStatus, Stage } from './stage.ts';

/** What a stage may not write in this reconcile, and what it waits for. */
export interface Gate {
  allow: 'existing' | 'nothing';
  because: ComponentStatus;
}

/** The stage with the writes that all gates allow; what it cannot create waits for the first of them. */
export function gated(stage: Stage, ...gates: readonly (Gate | undefined)[]): Stage {
  return gates.filter((gate) => gate !== undefined).reduce(apply, stage);
}

const apply = (stage: Stage, { allow, because }: Gate): Stage => ({
  ...stage,
  writes: allow === 'existing' ? stage.writes.filter((write) => write.do !== 'create') : [],
  components: stage.components.map((one) => (one.reason === 'Creating' ? { ...one, ...because } : one)),
});
