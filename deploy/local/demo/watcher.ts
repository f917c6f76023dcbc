import {
  type KubernetesObject,
  keyOf,
  nameOf,
  type ObjectReference,
  type Resource,
} from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { realClock } from '../clock.ts';
import { reflect } from '../eventing/reflect.ts';

/** A kind that an act watches. */
export interface Watch<T extends KubernetesObject = KubernetesObject> {
  kind: Resource<T>;
  /** Each change of this is a step of the object. */
  state?(object: NoInfer<T>): State;
  /** How a step is displayed; undefined: not at all. */
  shown?(object: NoInfer<T>): Shown | undefined;
  /** Called for each change, before its step is reported; `before` is the previous state of the same object. */
  saw?(object: NoInfer<T>, before: NoInfer<T> | undefined, isGone: boolean): void;
}

export interface State {
  phase: ShownPhase;
  message?: string | undefined;
  isTerminating?: boolean;
}

export interface Shown {
  phase: ShownPhase;
  remark: string;
}

/** A step of an object, or of a part of one, as it is displayed. */
export interface StepReport extends Shown {
  kind: string;
  name: string;
}

export type Step = State & { atMs: number };

interface ObjectHistory<T extends KubernetesObject = KubernetesObject> {
  watch: Watch;
  /** Its latest state, kept after its deletion. */
  object: T;
  steps: readonly Step[];
  goneAtMs: number | undefined;
}

/** Gives watches of several kinds one type. */
export const watchOf = <T extends KubernetesObject>(watch: Watch<T>) => watch as unknown as Watch;

/** What has a phase, and says it in a sentence. */
export interface WithPhase extends Pick<KubernetesObject, 'metadata'> {
  status?: { phase?: ShownPhase | undefined; message?: string | undefined } | undefined;
}

/** The state of an object whose phase matters, and not how it is worded. */
export const stateOf = ({ metadata, status }: WithPhase): State => ({
  phase: status?.phase ?? '',
  isTerminating: metadata.deletionTimestamp !== undefined,
});

/** How an object is displayed that says its phase in a sentence. */
export function shownOf({ metadata, status }: WithPhase): Shown {
  const { phase = '', message = '' } = status ?? {};
  // Until its first reconcile after the deletion its message is that of an object that stays.
  if (metadata.deletionTimestamp !== undefined)
    return { phase: 'Terminating', remark: phase === 'Ready' ? '' : message };
  return { phase, remark: phase === '' ? 'applied' : message };
}

export type Watcher = ReturnType<typeof watcher>;

/** Records what happens to the objects of several kinds. */
export function watcher(report: (report: StepReport) => void) {
  const kinds = new Map<unknown, Map<string, ObjectHistory>>();
  const checks = new Set<() => void>();
  const historiesOf = <T extends KubernetesObject>(kind: Resource<T>) => {
    const found = kinds.get(kind) ?? new Map<string, ObjectHistory>();
    kinds.set(kind, found);
    return found as Map<string, ObjectHistory<T>>;
  };

  /** Records the new state of an object; returns whether it is a step. */
  function keep(watch: Watch, object: KubernetesObject, isGone: boolean): boolean {
    const { kind, state } = watch;
    const known = historiesOf(kind).get(keyOf(object.metadata));
    const steps = known?.object.metadata.uid === object.metadata.uid ? known.steps : [];
    const next = state?.(object);
    const isStep = next !== undefined && !isGone && !isSame(steps.at(-1), next);
    historiesOf(kind).set(keyOf(object.metadata), {
      watch,
      object: isGone && known ? known.object : object,
      steps: isStep ? [...steps, { ...next, atMs: Date.now() }] : steps,
      goneAtMs: isGone ? Date.now() : undefined,
    });
    return isStep;
  }

  function see(watch: Watch, object: KubernetesObject, isGone = false): void {
    const before = historiesOf(watch.kind).get(keyOf(object.metadata))?.object;
    const isStep = keep(watch, object, isGone);
    watch.saw?.(object, before?.metadata.uid === object.metadata.uid ? before : undefined, isGone);
    const now = isGone || isStep ? shown(watch.kind, object.metadata) : undefined;
    if (now) report({ kind: object.kind, name: object.metadata.name, ...now });
    for (const check of checks) check();
  }

  const all = <T extends KubernetesObject>(kind: Resource<T>): T[] =>
    [...historiesOf(kind).values()].flatMap(({ object, goneAtMs }) => (goneAtMs === undefined ? [object] : []));

  /** How an object is displayed now; undefined where it has never been, or there is nothing to display. */
  function shown<T extends KubernetesObject>(kind: Resource<T>, reference: ObjectReference): Shown | undefined {
    const { watch, object, goneAtMs } = historiesOf(kind).get(keyOf(reference)) ?? {};
    if (!object || !watch?.shown) return undefined;
    return goneAtMs === undefined ? watch.shown(object) : { phase: 'Gone', remark: '' };
  }

  return {
    see,
    all,
    /** The names of the objects of these kinds that `isOne` picks. */
    names: (kinds: readonly Resource[], isOne: (object: KubernetesObject) => boolean = () => true): string[] =>
      kinds.flatMap((kind) =>
        all(kind)
          .filter(isOne)
          .map(({ metadata }) => nameOf(kind, metadata)),
      ),
    shown,
    /** What has been seen of an object, also if it is deleted by now. */
    one: <T extends KubernetesObject>(kind: Resource<T>, object: ObjectReference) =>
      historiesOf(kind).get(keyOf(object)),
    /** Resolves as soon as `find` finds something; it is called after each change. */
    until: <Found>(find: () => Found | undefined | false) =>
      new Promise<Found>((resolve) => {
        const check = () => {
          const found = find();
          if (found === undefined || found === false) return;
          checks.delete(check);
          resolve(found);
        };
        checks.add(check);
        check();
      }),
    /** Watches until the signal aborts; objects of the first list take no step. Resolves after all first lists. */
    watch: async (kube: Kube, watches: readonly Watch[], signal: AbortSignal): Promise<void> => {
      const follow = (watch: Watch) => {
        let isFirst = true;
        return reflect(
          kube,
          watch.kind,
          {},
          { clock: realClock, signal },
          {
            replaced: (items) => {
              const there = new Set(items.map(({ metadata }) => keyOf(metadata)));
              const gone = [...historiesOf(watch.kind)].filter(([key, { goneAtMs }]) => !goneAtMs && !there.has(key));
              for (const item of items) isFirst ? keep(watch, item, false) : see(watch, item);
              for (const [, { object }] of gone) see(watch, object, true);
              isFirst = false;
            },
            changed: ({ type, object }) => see(watch, object, type === 'DELETED'),
          },
        );
      };
      await Promise.all(watches.map(follow));
    },
  };
}

const isSame = (one: State | undefined, other: State) =>
  one?.phase === other.phase && one.message === other.message && one.isTerminating === other.isTerminating;
