/**
 * Does something, and then clears up whatever came of it, each step though the one before failed. What is thrown is the
 * first error there was, with later errors in its message: the error of a failed clean-up would hide the cause.
 */
export async function andClearUp<T>(work: () => Promise<T>, ...steps: readonly (() => unknown)[]): Promise<T> {
  const errors: unknown[] = [];
  const attempt = async <R>(what: () => R): Promise<Awaited<R> | undefined> => {
    try {
      return await what();
    } catch (error) {
      errors.push(error);
      return undefined;
    }
  };
  const result = await attempt(work);
  for (const step of steps) await attempt(step);
  const [first, ...later] = errors;
  if (errors.length === 0) return result as T;
  if (first instanceof Error && later.length > 0)
    first.message += `\n\nClearing up after it failed, too:\n${later.map((error) => (error instanceof Error ? error.message : String(error))).join('\n')}`;
  throw first;
}
