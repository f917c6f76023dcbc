import type { ImagePublished } from '../../../shared/events.ts';
import type { ChangeVerb } from '../../../shared/function.ts';
import type { ObjectReference, Resource } from '../../../shared/kinds/resource.ts';
import { mapConcurrently } from '../../../shared/runtime/concurrency.ts';
import type { Kube } from '../../../shared/runtime/kube.ts';

/** What a function is sent: an event about an object, a fact about an image, or what a pipeline published. */
export type Sent = (
  | { about: Resource; verb?: ChangeVerb; ref: ObjectReference }
  | { fact: string; ref: ObjectReference }
  | { published: ImagePublished }
) & {
  /** Done before each, at no cost of the function: else only the first would find something to do. */
  before?(kube: Kube): Promise<unknown>;
  /** The functions that it costs more beside more objects, because it concerns all of them (DECISIONS.md, "Images and slots"). */
  grows?: readonly string[];
};

/** What the functions ask beside the API server. */
export interface Outside {
  url: string;
  /** What it was asked for, and how much of that to change something. */
  asked(): { requests: number; writes: number };
  stop(): Promise<unknown>;
}

/** Objects of one kind, and an event about one of them. */
export interface Crowd {
  beside: string;
  counts: readonly number[];
  /** Those that run; by default all that hear of one of its events. */
  functions?: readonly string[];
  /** Starts what they ask, and has the policy allow it. */
  start?(kube: Kube): Promise<Outside>;
  /** Makes those from number `from` to `to`; `url` is that of what was started. */
  make(kube: Kube, from: number, to: number, url: string): Promise<void>;
  events: Readonly<Record<string, Sent>>;
}

export const farm = 'vmdi-farm';
export const lab = 'lab';
/** The namespaces of all crowds; some have others, too, whose names begin so. */
export const places: readonly string[] = [farm, lab];

export const nameOf = (what: string, index: number) => `${what}-${String(index).padStart(5, '0')}`;

export const many = (from: number, to: number, make: (index: number) => Promise<unknown>) =>
  mapConcurrently(
    Array.from({ length: to - from }, (_, at) => from + at),
    32,
    make,
  );
