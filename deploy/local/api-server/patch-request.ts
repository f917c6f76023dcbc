import type { ObjectPlace, Subresource } from './cluster-state.ts';

/** A PATCH as it came in. */
export interface PatchRequest {
  place: ObjectPlace;
  subresource: Subresource;
  /** The request's Content-Type, which says what kind of patch it is. */
  mediaType: string;
  patch: unknown;
  force: boolean;
}
