import type { KubernetesObject } from '../../../shared/kinds/resource.ts';

/** One change of one object. A field that the recorder does not know is absent. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** The object after the change; of a deleted object the last state, with the resourceVersion of its deletion. */
  object: KubernetesObject;
  /** When the recorder received it, in milliseconds since 1970. */
  atMs: number;
  /** The writer: the name of a function, or `user`, `cdi` and so on. */
  by?: string;
  /** The resourceVersion at which the reconcile of the writer began to read. */
  since?: number;
  /** The preconditions of the request that deleted the object (`{}` if it had none); absent if this change has another cause. */
  deletion?: { uid?: string; resourceVersion?: string };
}

/** One request of a reconcile to the API server; of a list, one page. */
export interface Asked {
  verb: 'get' | 'list' | 'create' | 'replace' | 'patch' | 'apply' | 'delete';
  kind: string;
  /** `namespace/name`; of a list the namespace, if it has one. */
  of: string;
  /** Absent if the list has all objects of the kind. */
  selector?: string;
  /** 0 for the first page of a list. */
  page?: number;
  /** The number of objects in the answer; 0 until it arrives. */
  objects: number;
}

/** An event with data, as it was delivered to a function. */
export interface Delivered {
  id: string;
  data: unknown;
  /** The signature that came with it: when it was made, in seconds since 1970, and the text it is of. */
  signed?: { timestamp: string; signature: string; content: string } | undefined;
}

/** One reconcile of a function: what it was for and what it requested. A conflict begins another. */
export interface Reconcile {
  /** The function. */
  by: string;
  /** The resourceVersion at which it began to read. */
  since: number;
  atMs: number;
  /** What its events, or the page of an audit, named: objects as `Kind namespace/name`, facts as their type. */
  about: readonly string[];
  /** A timer requested it. */
  isTimed: boolean;
  asked: readonly Asked[];
  /** Absent if events were not recorded. */
  messages?: readonly Delivered[];
  /**
   * The most requests that the process had at the API server at once, and the most unanswered writes, including those that waited
   * to be sent.
   */
  mostInFlight: number;
  mostWritesBegun: number;
}

/** What sources were asked, and what is behind each url at the end: its ETag. */
export interface Sources {
  /** An answer without an ETag is no object that can be told from another. */
  looks: readonly { url: string; etag: string | undefined; revision: number }[];
  atEnd: Readonly<Record<string, string>>;
}

/** The changes of all objects of the recorded kinds. */
export interface History {
  /** The objects that existed when the recording began. */
  before: readonly KubernetesObject[];
  /** In the order of their resourceVersions. */
  changes: readonly Change[];
  /** The time from which only the functions and the operators below them acted, without faults; absent if there was none. */
  stillFromMs?: number;
  /** No fault was injected; only users acted. */
  isFaultless?: boolean;
  /** Absent if requests were not recorded. */
  reconciles?: readonly Reconcile[];
  /** Absent if sources were not recorded. */
  sources?: Sources;
  /** The end of the recording. */
  endMs: number;
  /** The period of the sweep, 30 s by default. */
  sweepMs?: number;
  /** The period of the audit, 10 min by default. */
  auditMs?: number;
  /** The largest difference between any two clocks (functions and recorder), 5 s by default. */
  skewMs?: number;
  /** Changes between these resourceVersions were missed: their outcome is accepted and not judged. */
  gaps?: readonly Gap[];
}

/** A part of a history of which only the outcome is known. */
export interface Gap {
  after: number;
  until: number;
}

/** What broke an invariant, and at which resourceVersion. */
export interface Violation {
  /** `S1` … `S21`, `L1` … `L6`, `B1`. */
  invariant: string;
  revision: string;
  message: string;
}
