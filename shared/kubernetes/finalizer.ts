import type { AsRead } from '../actions.ts';
import type { Resource } from '../kinds/resource.ts';

/** The object as it was read, with its finalizers. */
interface Finalized extends AsRead {
  metadata: AsRead['metadata'] & { finalizers?: string[] | undefined };
}

export const hasFinalizer = ({ metadata }: { metadata: { finalizers?: string[] | undefined } }, finalizer: string) =>
  metadata.finalizers?.includes(finalizer) ?? false;

/** Keeps the object until the finalizer is removed. The API server refuses it of an object that is being deleted. */
export const addFinalizer = (resource: Resource, of: Finalized, finalizer: string) =>
  patchFinalizers(resource, of, [...(of.metadata.finalizers ?? []), finalizer]);

/** Lets the object be deleted. */
export const removeFinalizer = (resource: Resource, of: Finalized, finalizer: string) =>
  patchFinalizers(
    resource,
    of,
    (of.metadata.finalizers ?? []).filter((name) => name !== finalizer),
  );

const patchFinalizers = (resource: Resource, of: AsRead, finalizers: readonly string[]) => ({
  do: 'patchMetadata' as const,
  resource,
  of,
  metadata: { finalizers },
});
