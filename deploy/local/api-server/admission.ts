import type { Kind } from './kind.ts';
import type { ApiObject } from './objects.ts';
import { StatusError } from './status-error.ts';

/** What an admission hook is asked about: an object on its way in or out, which it may change or refuse. */
export interface AdmissionRequest {
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  resource: { group: string; version: string; resource: string };
  /** '' or 'status'. */
  subresource: string;
  /** What is about to be stored; a hook may change it in place. Absent on DELETE. */
  object: ApiObject | undefined;
  oldObject: ApiObject | undefined;
  user: string;
  /** The groups that the user is in, where they are known. */
  groups?: readonly string[];
  dryRun: boolean;
}

/** Who asks for something to be written, and how. */
interface Asked {
  user: string;
  groups?: readonly string[];
  dryRun?: boolean;
}

export const admissionRequest = (
  { group, version, plural }: Kind,
  { user, groups, dryRun = false }: Asked,
  what: Pick<AdmissionRequest, 'operation' | 'object' | 'oldObject'>,
  subresource = '',
): AdmissionRequest => ({
  ...what,
  resource: { group, version, resource: plural },
  subresource,
  user,
  ...(groups && { groups }),
  dryRun,
});

/**
 * Simulates an admission webhook: throws to refuse. A thrown error with a numeric `status` between 400 and 499 is answered
 * with that status and its `reason` (or Forbidden); its message reaches the client as it is.
 */
export type AdmissionHook = (request: AdmissionRequest) => void | Promise<void>;

/** Runs the hooks in order; throws a StatusError for the first that refuses. */
export async function admit(hooks: readonly AdmissionHook[], request: AdmissionRequest): Promise<void> {
  for (const hook of hooks) {
    try {
      await hook(request);
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

function refusalOf(error: unknown): unknown {
  if (error instanceof StatusError || !(error instanceof Error)) return error;
  const { status, reason } = error as { status?: unknown; reason?: unknown };
  if (typeof status !== 'number' || status < 400 || status > 499) return error;
  return new StatusError(status, typeof reason === 'string' && reason ? reason : 'Forbidden', error.message);
}
