import { ApiError } from '../../../shared/runtime/errors.ts';

/** The answer of an API server whose quota has no room for a claim. */
export const quotaExceeded = (claim: string) =>
  new ApiError(
    403,
    'Forbidden',
    `persistentvolumeclaims "${claim}" is forbidden: exceeded quota: storage, requested: persistentvolumeclaims=1, used: persistentvolumeclaims=10, limited: persistentvolumeclaims=10`,
  );

export const isQuotaExceeded = (error: unknown): error is ApiError =>
  error instanceof ApiError && error.message.includes('exceeded quota:');
