/** Parses "v1.34.4", "1.31+", "knative-v1.20.0"; undefined if the text has no version. */
export function versionIn(text: string | undefined): readonly [number, number] | undefined {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(text ?? '') ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

/** True if a version is at least the other one. */
export const isAtLeast = (found: readonly [number, number], least: readonly [number, number]) =>
  found[0] > least[0] || (found[0] === least[0] && found[1] >= least[1]);
