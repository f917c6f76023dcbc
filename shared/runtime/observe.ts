import type { Context, FunctionDeclaration, Wake } from '../function.ts';
import { keyOf, type ObjectReference } from '../resources/resource.ts';
import { ApiError } from './errors.ts';
import type { Kube } from './kube.ts';
import type { Decision } from './verdict.ts';

/** The limit of unreadable objects; with more the pass fails. */
const maxUnreadable = 5;

/**
 * Observes what a pass decides about. If the API server answers with an error for an object that an event names, only that object
 * is skipped, as a failed decision. Any other failed read fails the pass.
 */
export async function observeReadable<Observed>(
  { observe }: FunctionDeclaration<Observed>,
  context: Context,
  wake: Wake,
): Promise<{ observed: readonly Observed[]; unread: readonly Decision[] }> {
  const unread: Decision[] = [];
  const refusals = new Map<unknown, ObjectReference>();
  const recording = { ...context, kube: recordingErrors(context.kube, refusals) };
  for (let { subjects } = wake; ; ) {
    // No readable subject is left, so there is nothing to observe.
    if (unread.length > 0 && subjects.length + wake.messages.length === 0 && !wake.sweep && !wake.audit)
      return { observed: [], unread };
    try {
      return { observed: await observe(recording, { ...wake, subjects }), unread };
    } catch (error) {
      const refused = refusals.get(error);
      const others = subjects.filter((subject) => refused === undefined || keyOf(subject) !== keyOf(refused));
      if (others.length === subjects.length || unread.length === maxUnreadable) throw error;
      unread.push({ observed: { refused }, error });
      subjects = others;
    }
  }
}

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
