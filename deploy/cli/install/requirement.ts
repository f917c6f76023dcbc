import type { Cluster } from './cluster.ts';
import { type AnyObject, Definition } from './kinds.ts';

/** One line of the check. */
export interface Requirement {
  name: string;
  /**
   * `missing` stops an installation; `warning` does not, but an admin should check it; `optional` is absent, and what needs it is skipped.
   */
  result: 'ok' | 'warning' | 'optional' | 'missing';
  expected: string;
  found: string;
  /** What to do, if anything. */
  remedy?: string;
}

type Sentence = Pick<Requirement, 'name' | 'expected'> & { remedy: string };

export const ok = ({ name, expected }: Sentence, found: string): Requirement => ({
  name,
  expected,
  found,
  result: 'ok',
});
export const warning = (of: Sentence, found: string): Requirement => ({ ...of, found, result: 'warning' });
export const optional = (of: Sentence, found: string): Requirement => ({ ...of, found, result: 'optional' });
export const missing = (of: Sentence, found: string): Requirement => ({ ...of, found, result: 'missing' });

/** What is found where nothing says the version. */
export const unknownVersion = 'an unknown version';

/** Judges a version: an unknown one is a warning, because users build their own. */
export function judged(of: Sentence, least: readonly [number, number], text: string | undefined): Requirement {
  const version = versionIn(text);
  const unknown = { ...of, remedy: `make sure that it is ${of.expected}` };
  if (!version) return warning(unknown, text ? `a version that cannot be read: ${text}` : unknownVersion);
  return (isAtLeast(version, least) ? ok : missing)(of, text ?? '');
}

/** Parses "v1.34.4", "1.31+", "knative-v1.20.0"; undefined if the text has no version. */
function versionIn(text: string | undefined): readonly [number, number] | undefined {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text ?? '') ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

/** True if a version is at least the other one. */
const isAtLeast = (found: readonly [number, number], least: readonly [number, number]) =>
  found[0] > least[0] || (found[0] === least[0] && found[1] >= least[1]);

/** A CustomResourceDefinition if it serves the kind at this version. */
export async function servedAt({ kube }: Cluster, name: string, version: string): Promise<AnyObject | undefined> {
  const definition = await kube.get(Definition, { name });
  const { versions = [] } = (definition?.spec ?? {}) as { versions?: { name: string; served: boolean }[] };
  return versions.some((one) => one.name === version && one.served) ? definition : undefined;
}
