/** A patch that cannot be applied to its object: the API server answers 422. */
export class PatchError extends Error {
  override name = 'PatchError';
}
