import type { KubernetesObject } from '../../../shared/kinds/resource.ts';

/** One change of one object; what only some recorders know is absent with the others. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** As it is after the change; of one that is gone its last state, under the resourceVersion of its end. */
  object: KubernetesObject;
  /** When the recorder learnt of it, milliseconds since 1970. */
  atMs: number;
  /** Who wrote it: a function by its name, else `user`, `cdi` or the like. */
  by?: string;
  /** The resourceVersion at which the pass that wrote it began to read. */
  since?: number;
  /** What the request for its deletion insisted on, `{}` where on nothing; only where this change is the answer to one. */
  deletion?: { uid?: string; resourceVersion?: string };
}

/** One request of a pass to the API server; of a list, one page. */
export interface Asked {
  verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'apply' | 'delete';
  kind: string;
  /** `namespace/name`; of a list the namespace, if it has one. */
  of: string;
  /** A list of all objects of the kind has none. */
  selector?: string;
  /** 0 for the first of a list. */
  page?: number;
  /** How many objects the answer had; 0 while there is none. */
  objects: number;
}

/** One look of a function at the cluster and what it made of it, as far as requests show; a conflict begins another. */
export interface Pass {
  /** The function. */
  by: string;
  /** The resourceVersion at which it began to read. */
  since: number;
  atMs: number;
  /** What its events named: objects as `Kind namespace/name`, of facts their types. */
  about: readonly string[];
  /** A timer asked for it, which names nothing. */
  isTimed: boolean;
  asked: readonly Asked[];
  /** The most requests of the process that the API server had at once, and the most writes without an answer, also those that waited. */
  mostInFlight: number;
  mostWritesBegun: number;
}

/** What happened to all objects of the kinds that were recorded: the evidence that invariants judge. */
export interface History {
  /** What was there when the record began. */
  before: readonly KubernetesObject[];
  /** In the order of their resourceVersions. */
  changes: readonly Change[];
  /** From when on nobody but the functions and the operators below them did anything, and no fault was at work; absent where that never was. */
  stillFromMs?: number;
  /** No fault was injected; only users acted. */
  isFaultless?: boolean;
  /** What each pass of each function asked for; absent where nobody recorded it. */
  passes?: readonly Pass[];
  /** When the record ended. */
  endMs: number;
  /** How often the functions sweep, 30 s where nobody says otherwise. */
  sweepMs?: number;
  /** How often they walk through everything, 10 min where nobody says otherwise. */
  auditMs?: number;
  /** How far the clocks of the functions may be apart from the recorder's and from each other's, 5 s where nobody says otherwise. */
  skewMs?: number;
  /** Between these resourceVersions changes were missed: what came of them is taken as it is, and judged by nobody. */
  gaps?: readonly Gap[];
}

/** A stretch of a history in which only the outcome is known. */
export interface Gap {
  after: number;
  until: number;
}

/** What broke an invariant, and at which resourceVersion. */
export interface Violation {
  /** `S1` … `S18`, `L1` … `L6`, `B1`. */
  invariant: string;
  revision: string;
  says: string;
}
