import type { Context, FunctionDeclaration, Wake } from '../function.ts';
import { keyOf, type ObjectReference } from '../resources/resource.ts';
import { ApiError } from './errors.ts';
import type { Kube } from './kube.ts';
import type { Decision } from './verdict.ts';

/** So many objects are left out of one look before it is given up. */
const mostUnread = 5;

/**
 * What a pass sees. Where the API server answers for an object that an event names, but does not show it, that object alone is
 * left out, as a decision that failed; whatever else cannot be read fails the pass.
 */
export async function observeReadable<Observed>(
  { observe }: FunctionDeclaration<Observed>,
  context: Context,
  wake: Wake,
): Promise<{ observed: readonly Observed[]; unread: readonly Decision[] }> {
  const unread: Decision[] = [];
  const refusals = new Map<unknown, ObjectReference>();
  const noting = { ...context, kube: notingReads(context.kube, refusals) };
  for (let { subjects } = wake; ; ) {
    // What nobody asks for any more is not looked at.
    if (unread.length > 0 && subjects.length + wake.messages.length === 0 && !wake.sweep && !wake.audit)
      return { observed: [], unread };
    try {
      return { observed: await observe(noting, { ...wake, subjects }), unread };
    } catch (error) {
      const refused = refusals.get(error);
      const others = subjects.filter((subject) => refused === undefined || keyOf(subject) !== keyOf(refused));
      if (others.length === subjects.length || unread.length === mostUnread) throw error;
      unread.push({ observed: { refused }, error });
      subjects = others;
    }
  }
}

/** Remembers which object an error is about. */
const notingReads = (
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
