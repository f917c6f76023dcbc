import type { KubernetesObject, Resource } from '../../../shared/kinds/resource.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';
import type { Look } from '../../terminal/paint.ts';
import type { ShownPhase } from '../../terminal/phase-style.ts';
import { realClock } from '../clock.ts';
import { follow } from '../eventing/follow.ts';
import type { DemoImage } from './images.ts';
import type { DemoWorld } from './set-up.ts';

/** What the runner gives an act of the demo. */
export interface ActOptions {
  /** When the demo began. */
  startedMs: number;
  /** Ends the watching. */
  watchSignal: AbortSignal;
  /** The live display shows these lines from now on. */
  onReady(lines: (look: Look) => string[]): void;
  /** An object took a step. */
  onStep(step: Step): void;
  /** What a user would type now. */
  onCommand(command: string): void;
}

/** What is reported of an object when it takes a step. */
export interface Step {
  name: string;
  phase: ShownPhase;
  remark: string;
}

/** An act that has begun: when it is over, and its result as far as it came. */
export interface Act<Result> {
  over: Promise<void>;
  result(): Result;
}

/** Conditions to wait for; every one is checked whenever something changed. */
export function conditions() {
  const checks = new Set<() => void>();
  return {
    changed: () => {
      for (const check of checks) check();
    },
    /** Resolves once the condition is true. */
    until: (isTrue: () => boolean) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!isTrue()) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        check();
      }),
  };
}

/** Follows all objects of these kinds; resolves once every first list is in. */
export async function followKinds(
  kube: Kube,
  kinds: readonly Resource[],
  signal: AbortSignal,
  changed: () => void,
): Promise<ReadonlyMap<Resource, ReadonlyMap<string, KubernetesObject>>> {
  const objects = new Map(kinds.map((kind) => [kind, new Map<string, KubernetesObject>()]));
  await Promise.all(
    [...objects].map(([kind, found]) => follow(kube, kind, { clock: realClock, signal }, found, changed)),
  );
  return objects;
}

/** Counts what is downloaded from now on: of this image, and of all others. */
export function countDownloads({ store }: DemoWorld, { bucket, key }: DemoImage, signal: AbortSignal) {
  const sent = { image: 0, others: 0 };
  const stop = store.onBytes((path, bytes) => {
    sent[path === `/${bucket}/${key}` ? 'image' : 'others'] += bytes;
  });
  signal.addEventListener('abort', stop, { once: true });
  return sent;
}

/** Null if one of the two never came. */
export const secondsBetween = (fromMs: number | undefined, toMs: number | undefined) =>
  fromMs === undefined || toMs === undefined ? null : (toMs - fromMs) / 1000;
