import type { Batch, Context, FunctionDeclaration, Unreadable } from '../function.ts';
import { keyOf, type ObjectReference } from '../kinds/resource.ts';
import { ApiError } from './errors.ts';
import type { Kube } from './kube.ts';
import { isUnreadable } from './unreadable.ts';

/** The limit of unreadable objects; with more the reconcile fails. */
const maxUnreadable = 5;

/**
 * Observes what a reconcile decides about. If the API server answers with an error for an object that an event names, only that object
 * is skipped. Any other failed read that the function does not skip itself fails the reconcile.
 */
export async function observeReadable<Observed, Read = Observed>(
  declaration: FunctionDeclaration<Observed, Read>,
  context: Context,
  batch: Batch,
): Promise<readonly (Observed | Unreadable)[]> {
  const unreadable: Unreadable[] = [];
  const failedReads = new Map<unknown, ObjectReference>();
  const recording = { ...context, kube: recordingErrors(context.kube, failedReads) };
  // Without a split, what is read is what is decided about.
  const { split = (one: Read) => [one as unknown as Observed] } = declaration;
  for (let { subjects } = batch; ; ) {
    // No readable subject is left, so there is nothing to observe.
    if (unreadable.length > 0 && subjects.length + batch.messages.length === 0 && !batch.sweep && !batch.audit)
      return unreadable;
    try {
      const read = await declaration.observe(recording, { ...batch, subjects });
      return [...unreadable, ...read.flatMap<Observed | Unreadable>((one) => (isUnreadable(one) ? one : split(one)))];
    } catch (error) {
      const failed = failedReads.get(error);
      if (failed === undefined || unreadable.length === maxUnreadable) throw error;
      const others = subjects.filter((subject) => keyOf(subject) !== keyOf(failed));
      if (others.length === subjects.length) throw error;
      unreadable.push({ unreadable: failed, error });
      subjects = others;
    }
  }
}

/** Remembers which object an error is about. */
const recordingErrors = (
  kube: Context['kube'],
  failedReads: Map<unknown, ObjectReference>,
): Pick<Kube, 'get' | 'list' | 'pages'> => ({
  get: (resource, ref) =>
    kube.get(resource, ref).catch((error: unknown) => {
      if (error instanceof ApiError) failedReads.set(error, ref);
      throw error;
    }),
  list: (resource, options) => kube.list(resource, options),
  pages: (resource, options) => kube.pages(resource, options),
});
