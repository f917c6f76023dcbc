import { serveFunctions } from '../../deploy/local/functions.ts';
import type { Batch, Context, FunctionDeclaration } from '../../shared/function.ts';
import type { Resource } from '../../shared/kinds/resource.ts';
import { isUnreadable } from '../../shared/runtime/unreadable.ts';

/** What the events of one kind made a function do. */
export interface EventOutcome {
  function: string;
  /** `VMDiskImage update`, or the type of a fact; `again` in place of the verb: what the function asked to look at once more. */
  event: string;
  /** Those that a reconcile served; the same event twice in one reconcile counts once. */
  served: number;
  /** Of these the ones whose reconcile wrote, published or recorded something. */
  acted: number;
  /** Reads by `verb plural`. What served several events counts in equal shares. */
  reads: Map<string, number>;
}

/** Counts what events make functions do, from within the functions. */
export function countOutcomes() {
  const outcomes = new Map<string, EventOutcome>();
  const note = (name: string, batch: Batch, reads: readonly string[], hasActed: boolean) => {
    const events = eventsOf(batch);
    for (const event of events) {
      const key = `${name} ${event}`;
      const known = outcomes.get(key) ?? { function: name, event, served: 0, acted: 0, reads: new Map() };
      outcomes.set(key, { ...known, served: known.served + 1, acted: known.acted + (hasActed ? 1 : 0) });
      for (const read of reads) known.reads.set(read, (known.reads.get(read) ?? 0) + 1 / events.length);
    }
  };
  const counting = (declaration: FunctionDeclaration): FunctionDeclaration => ({
    ...declaration,
    observe: async (context, batch) => {
      const reads: string[] = [];
      const observed = await declaration.observe({ ...context, kube: noting(context.kube, reads) }, batch);
      // `decide` is pure, so asking it once more changes nothing.
      const split = (read: unknown) => declaration.split?.(read) ?? [read];
      const readable = observed.filter((one) => !isUnreadable(one)).flatMap(split);
      const hasActed = readable.some((one) => declaration.decide(one).some((action) => action.do !== 'measure'));
      note(declaration.name, batch, reads, hasActed);
      return observed;
    },
  });
  const serve: typeof serveFunctions = (declarations, options) => serveFunctions(declarations.map(counting), options);
  return { outcomes, serve };
}

const eventsOf = ({ subjects, messages }: Batch): string[] => [
  ...subjects.map(({ kind, verb = 'again' }) => `${kind} ${verb}`),
  ...messages.map(({ type }) => type),
];

function noting(kube: Context['kube'], reads: string[]): Context['kube'] {
  const note = (verb: string, { plural }: Resource) => void reads.push(`${verb} ${plural}`);
  return {
    get: (resource, ref) => {
      note('get', resource);
      return kube.get(resource, ref);
    },
    list: (resource, options) => {
      note('list', resource);
      return kube.list(resource, options);
    },
    pages: (resource, options) => {
      note('list', resource);
      return kube.pages(resource, options);
    },
  };
}
