/** What the page shows, row by row: made by the server from objects, sent as it changes, drawn by the page. */
export interface View {
  /** The one row named `cluster`. */
  cluster: Rows<ClusterRow>;
  images: Rows<ImageRow>;
  machines: Rows<MachineRow>;
  /** Machines on OpenStack; none where their kind is not there. */
  servers: Rows<ServerRow>;
  workspaces: Rows<WorkspaceRow>;
  /** Images that were deleted while Kubernetes still keeps their Events, usually an hour. */
  pruned: Rows<PrunedRow>;
}

export type Rows<T> = Readonly<Record<string, T>>;

/** What is one for the whole cluster. */
export interface ClusterRow {
  slots: {
    /** How many there are by the policy. */
    total: number;
    /** undefined if the Lease does not parse. */
    held: readonly SlotRow[] | undefined;
  };
  /** Keys of images, in the order in which they get a slot. */
  queue: readonly string[];
  policy: { key: string; value: string; isSet: boolean; fault: string | undefined }[];
  /** How many keys of the policy cannot be read; told also to those who may not see which. */
  faults: number;
  /** What durations of downloads a forecast is made of: how many, and their median in milliseconds. */
  basis: { downloads: number; medianMs: number } | undefined;
}

interface SlotRow {
  /** namespace/name. */
  image: string;
  attempt: number;
  since: string;
}

export interface ImageRow {
  namespace: string;
  name: string;
  phase: string;
  /** From 0 to 1 while it downloads, if CDI reports progress. */
  share: number | undefined;
  /** From when to when it is estimated to take, where CDI reports none; milliseconds since 1970. */
  estimate: { fromMs: number; toMs: number } | undefined;
  isReady: boolean;
  message: string;
  revision: number;
  attempts: number;
  queuedAt: string | undefined;
  /** Its place in the queue, from 1. */
  place: number | undefined;
  /** When it may get its slot, milliseconds since 1970; undefined where nothing tells. */
  startsAtMs: number | undefined;
  usedBy: number;
  /** Names of at most twenty of them. */
  users: readonly string[];
  isKept: boolean;
  /** When prune may delete it. */
  dueAtMs: number | undefined;
  createdAt: string;
}

export interface MachineRow {
  namespace: string;
  name: string;
  phase: string;
  message: string;
  /** namespace/name. */
  image: string;
  ipAddress: string;
  node: string;
  createdAt: string;
}

export interface ServerRow {
  namespace: string;
  name: string;
  phase: string;
  message: string;
  /** Networks with their addresses once it has some, else the names that were asked for. */
  networks: string;
  volumes: readonly string[];
  node: string;
  restarts: number;
  createdAt: string;
}

export interface WorkspaceRow {
  name: string;
  phase: string;
  /** "5/7". */
  ready: string;
  /** The first cause before all others. */
  message: string;
  components: readonly { kind: string; name: string; phase: string; reason: string; message: string }[];
  createdAt: string;
}

export interface PrunedRow {
  namespace: string;
  name: string;
  time: string;
  why: string;
}

/** Something that happened to an object, for its timeline. */
export interface Happening {
  time: string;
  what: string;
  message: string;
  isWarning: boolean;
}

export type Section = keyof View;
export const sections: readonly Section[] = ['cluster', 'images', 'machines', 'servers', 'workspaces', 'pruned'];

/** What changed from one view to the next: rows that are new or others, and keys of those that are gone. */
export type Changes = { [S in Section]?: { set: View[S]; gone: readonly string[] } };
