import type { Kube } from '../../../shared/runtime/kube.ts';

/** The cluster to install on, and the output for its progress. */
export interface Cluster {
  kube: Kube;
  /** Reads a path of the API server, undefined for a 404: its version and the kinds that it serves. */
  read(path: string): Promise<unknown>;
  /** Prints a line for the user. */
  say(line: string): void;
  /** The longest wait for one object. */
  timeoutMs: number;
}

/** An error that an admin can correct: the message says what was expected, what was found and what to do. */
export class InstallError extends Error {
  override name = 'InstallError';
}
