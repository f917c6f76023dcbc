import { mergePatch } from './patch.ts';
import type { ApiObject } from './objects.ts';
export function recordUpdate(_x: unknown): void {}
export function applyServerSide(x: { live: unknown; applied: unknown; [k: string]: unknown }): { object: unknown; conflicts: { manager: string; field: string }[] } {
  return { object: mergePatch(x.live ?? {}, x.applied) as ApiObject, conflicts: [] };
}
