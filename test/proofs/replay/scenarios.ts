import { readdirSync, readFileSync } from 'node:fs';
import { mergePatch } from '../../../deploy/local/api-server/patch.ts';
import { type KubernetesObject, nameOf } from '../../../shared/kinds/resource.ts';

/** An object as it was recorded, not parsed. */
export type Recorded = KubernetesObject & { apiVersion: string; kind: string } & Record<string, unknown>;

/** One write of one object, as a watch showed it. */
export interface Change {
  /** When the watch showed it (UTC). */
  at: string;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The whole object after the write; the last state of a deleted object. */
  object: Recorded;
}

type Line = { at: string; type: Change['type'] } & (
  | { object: Recorded }
  | { kind: string; name: string; patch: unknown }
);

const folder = new URL('../fixtures/real-cdi/', import.meta.url);

/** The recordings of real CDI, external-snapshotter and a CSI driver (test/proofs/fixtures/real-cdi/README.md). */
export const scenarioNames = (): string[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.jsonl'))
    .map((file) => file.replace('.jsonl', ''))
    .sort();

/** Every write of every object of a scenario, in the order in which they were made. */
export function readScenario(name: string): Change[] {
  const lines = readFileSync(new URL(`${name}.jsonl`, folder), 'utf8')
    .trimEnd()
    .split('\n');
  const newest = new Map<string, Recorded>();
  return lines.map((text) => {
    const line: Line = JSON.parse(text);
    const key = 'object' in line ? nameOf(line.object, line.object.metadata) : `${line.kind} ${line.name}`;
    const object = 'object' in line ? line.object : (mergePatch(newest.get(key), line.patch) as Recorded);
    newest.set(key, object);
    return { at: line.at, type: line.type, object };
  });
}
