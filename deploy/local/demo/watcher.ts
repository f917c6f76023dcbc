import { type KubernetesObject, keyOf, type ObjectReference, type Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { realClock } from '../clock.ts';
import { reflect } from '../eventing/reflect.ts';

/** What an act watches of a kind, and what it makes of it. */
export interface Watch<T extends KubernetesObject = KubernetesObject> {
  kind: Resource<T>;
  /** What an object says of itself; it takes a step whenever that changes. */
  said?(object: T): Said;
  /** The line for a step; undefined where it is not worth one. */
  shown?(object: T): Shown | undefined;
  /** There is another state of an object, `before` the one until now; called before its step is told. */
  saw?(object: T, before: T | undefined, isGone: boolean): void;
}

export interface Said {
  phase: ShownPhase;
  message?: string;
  isTerminating?: boolean;
}

export interface Shown {
  phase: ShownPhase;
  remark: string;
}

/** What is told of an object, or of a part of one, when it takes a step. */
export interface Told extends Shown {
  kind: string;
  name: string;
}

export type Step = Said & { atMs: number };

/** What has been seen of one object. */
export interface Seen<T extends KubernetesObject = KubernetesObject> {
  /** As it was last, also where it is gone. */
  object: T;
  steps: readonly Step[];
  goneAtMs: number | undefined;
}

/** Gives watches of several kinds one type. */
export const watchOf = <T extends KubernetesObject>(watch: Watch<T>) => watch as unknown as Watch;

export type Watcher = ReturnType<typeof watcher>;

/** Keeps what somebody sees who watches objects of several kinds. */
export function watcher(tell: (told: Told) => void) {
  const kinds = new Map<unknown, Map<string, Seen>>();
  const checks = new Set<() => void>();
  const seenOf = <T extends KubernetesObject>(kind: Resource<T>) => {
    const found = kinds.get(kind) ?? new Map<string, Seen>();
    kinds.set(kind, found);
    return found as Map<string, Seen<T>>;
  };

  /** Takes another state of an object into account; whether that is a step. */
  function keep({ kind, said }: Watch, object: KubernetesObject, isGone: boolean): boolean {
    const known = seenOf(kind).get(keyOf(object.metadata));
    const steps = known?.object.metadata.uid === object.metadata.uid ? known.steps : [];
    const next = said?.(object);
    const isStep = next !== undefined && !isGone && !isSame(steps.at(-1), next);
    seenOf(kind).set(keyOf(object.metadata), {
      object: isGone && known ? known.object : object,
      steps: isStep ? [...steps, { ...next, atMs: Date.now() }] : steps,
      goneAtMs: isGone ? Date.now() : undefined,
    });
    return isStep;
  }

  function see(watch: Watch, object: KubernetesObject, isGone = false): void {
    const before = seenOf(watch.kind).get(keyOf(object.metadata))?.object;
    const isStep = keep(watch, object, isGone);
    watch.saw?.(object, before?.metadata.uid === object.metadata.uid ? before : undefined, isGone);
    const shown = watch.shown && (isGone ? { phase: 'Gone', remark: '' } : isStep && watch.shown(object));
    if (shown) tell({ kind: object.kind, name: object.metadata.name, ...shown });
    for (const check of checks) check();
  }

  return {
    see,
    /** What is there of a kind. */
    all: <T extends KubernetesObject>(kind: Resource<T>): T[] =>
      [...seenOf(kind).values()].flatMap(({ object, goneAtMs }) => (goneAtMs === undefined ? [object] : [])),
    /** What has been seen of that object. */
    one: <T extends KubernetesObject>(kind: Resource<T>, object: ObjectReference) => seenOf(kind).get(keyOf(object)),
    /** Resolves once it is so; looks again whenever something changed. */
    until: (isSo: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!isSo()) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
    /** Watches until the signal aborts; what is there at first is no step. Resolves once every first list is in. */
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
              const gone = [...seenOf(watch.kind)].filter(([key, { goneAtMs }]) => !goneAtMs && !there.has(key));
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

const isSame = (one: Said | undefined, other: Said) =>
  one?.phase === other.phase && one.message === other.message && one.isTerminating === other.isTerminating;
