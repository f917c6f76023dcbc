import type { Batch, Context, FunctionDeclaration, Unreadable } from '../function.ts';
import { keyOf, type ObjectReference } from '../kinds/resource.ts';
import { ApiError } from './errors.ts';
import type { Kube } from './kube.ts';
import { isUnreadable } from './unreadable.ts';

/** The limit of unreadable objects; with more the pass fails. */
const maxUnreadable = 5;

/**
 * Observes what a pass decides about. If the API server answers with an error for an object that an event names, only that object
 * is skipped. Any other failed read that the function does not skip itself fails the pass.
 */
export async function observeReadable<Observed, Read = Observed>(
  declaration: FunctionDeclaration<Observed, Read>,
  context: Context,
  batch: Batch,
): Promise<readonly (Observed | Unreadable)[]> {
  const unreadable: Unreadable[] = [];
  const refusals = new Map<unknown, ObjectReference>();
  const recording = { ...context, kube: recordingErrors(context.kube, refusals) };
  for (let { subjects } = batch; ; ) {
    // No readable subject is left, so there is nothing to observe.
    if (unreadable.length > 0 && subjects.length + batch.messages.length === 0 && !batch.sweep && !batch.audit)
      return unreadable;
    try {
      return [...unreadable, ...splitEach(declaration, await declaration.observe(recording, { ...batch, subjects }))];
    } catch (error) {
      const refused = refusals.get(error);
      if (refused === undefined || unreadable.length === maxUnreadable) throw error;
      const others = subjects.filter((subject) => keyOf(subject) !== keyOf(refused));
      if (others.length === subjects.length) throw error;
      unreadable.push({ unreadable: refused, error });
      subjects = others;
    }
  }
}

/** The entries of the decisions. */
const splitEach = <Observed, Read>(
  { split }: FunctionDeclaration<Observed, Read>,
  read: readonly (Read | Unreadable)[],
): readonly (Observed | Unreadable)[] =>
  split
    ? read.flatMap((one): readonly (Observed | Unreadable)[] => (isUnreadable(one) ? [one] : split(one)))
    : (read as readonly (Observed | Unreadable)[]);

/** Remembers which object an error is about. */
const recordingErrors = (
  kube: Context['kube'],
  refusals: Map<unknown, ObjectReference>,
): Pick<Kube, 'get' | 'list' | 'pages'> => ({
  get: (resource, ref) =>
    kube.get(resource, ref).catch((error: unknown) => {
      if (error instanceof ApiError) refusals.set(error, ref);
      throw error;
    }),
  list: (resource, options) => kube.list(resource, options),
  pages: (resource, options) => kube.pages(resource, options),
});
