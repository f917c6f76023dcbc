/** A patch that is malformed or cannot be applied to its object. */
export class PatchError extends Error {
  override name = 'PatchError';
}
