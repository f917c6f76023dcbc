import { toTime } from '../../../shared/kubernetes/time.ts';
import type { Clock } from '../clock.ts';
import type { AdmissionHook } from './admission.ts';
import type { KindRegistry } from './kind.ts';
import type { ApiObject } from './objects.ts';
import type { Store } from './store.ts';

/** What every operation on objects works with. */
export interface ClusterState {
  store: Store;
  kinds: KindRegistry;
  clock: Clock;
  admission: AdmissionHook[];
  /** The uid of the next object, for runs that must be repeatable; random by default, as in the real server. */
  newUid?(): string;
}

/** Names one object on the wire. */
export interface ObjectPlace {
  namespace: string | undefined;
  name: string;
}

/** What is written of an object: itself, or what a subresource shows of it. */
export type Subresource = '' | 'status' | 'scale';

/** How a write was asked for. */
export interface WriteOptions {
  user: string;
  /** The groups that the user is in; those of a ServiceAccount where it is one and they are not said. */
  groups?: readonly string[];
  fieldManager: string;
  dryRun: boolean;
  fieldValidation: 'Ignore' | 'Warn' | 'Strict';
  /** Tells the client something beside the answer, as a Warning header. */
  warn(message: string): void;
  /** Throws (403) where another verb would make a new object, and the user may not create one. */
  authoriseCreate?(): void;
  /** Throws (403) if the object would grant more rights than its writer has. */
  confirm?(object: ApiObject, old?: ApiObject): void;
}

/** The present time as creationTimestamp writes it: whole seconds, in UTC. */
export const timestamp = (clock: Clock) => toTime(clock.now());
