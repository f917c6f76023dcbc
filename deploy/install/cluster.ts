import type { Kube } from '../../shared/runtime/kube.ts';

/** The cluster that is worked on, and where its progress is told. */
export interface Cluster {
  kube: Kube;
  /** What the API server has at a path, undefined for a 404: its version and which kinds it serves. */
  read(path: string): Promise<unknown>;
  /** Takes a line for people. */
  say(line: string): void;
  /** How long anything is waited for. */
  timeoutMs: number;
}

/** What went wrong in words for the admin: what was expected, what was found, what to do. */
export class InstallError extends Error {
  override name = 'InstallError';
}
