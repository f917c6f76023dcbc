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
  /** Why nothing starts although slots may be free, and the command that helps. */
  stopped: { why: string; command: string } | undefined;
  /** The bytes that downloads asked of their sources, by day (UTC) and namespace. */
  egress: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** In the currency of the policy. */
  pricePerGiB: number | undefined;
  budget: { bytes: number; days: number; left: number } | undefined;
}

/** Where an object is in the view. */
export interface ObjectAt {
  section: 'images' | 'machines' | 'servers' | 'workspaces';
  /** namespace/name; of a workspace its name. */
  key: string;
}

/** The state of an object, as `ot-functions status` counts it. */
interface Stated {
  phase: string;
  state: 'Failed' | 'under way' | 'Hibernated' | 'Ready';
  message: string;
  /** If something is wrong: the object with the first cause, which may be this one. */
  cause: ObjectAt | undefined;
}

/** A download that is over. */
export interface PastSync {
  fromMs: number;
  toMs: number;
  /** The phase that it ended in; Queued if a new revision replaced it. */
  result: 'Succeeded' | 'Retrying' | 'Failed' | 'Queued';
  revision: number;
  /** What it asked of its source, 0 for a clone of another image's snapshot; undefined if an earlier release began it. */
  bytes: number | undefined;
  /** How it ended, in words. */
  message: string;
}

export interface SlotRow {
  /** namespace/name. */
  image: string;
  attempt: number;
  since: string;
  /** When the forecast expects it to be free, milliseconds since 1970; 0 for any moment, undefined without a forecast. */
  endsAtMs: number | undefined;
}

export interface ImageRow extends Stated {
  namespace: string;
  name: string;
  /** From 0 to 1 while it downloads, if CDI reports progress. */
  share: number | undefined;
  /** From when to when it is estimated to take, where CDI reports none; milliseconds since 1970. */
  estimate: { fromMs: number; toMs: number } | undefined;
  isReady: boolean;
  /** The size of its source; undefined until it is inspected. */
  bytes: number | undefined;
  /** As many as its status remembers, the earliest first. */
  syncs: readonly PastSync[];
  revision: number;
  attempts: number;
  queuedAt: string | undefined;
  /** Its place in the queue, from 1. */
  place: number | undefined;
  /** When it may get its slot, milliseconds since 1970; 0 for now, undefined where nothing tells. */
  startsAtMs: number | undefined;
  usedBy: number;
  /** Names of at most twenty of them. */
  users: readonly string[];
  isKept: boolean;
  /** When prune may delete it. */
  dueAtMs: number | undefined;
  createdAt: string;
}

export interface MachineRow extends Stated {
  namespace: string;
  name: string;
  /** namespace/name. */
  image: string;
  ipAddress: string;
  node: string;
  createdAt: string;
}

export interface ServerRow extends Stated {
  namespace: string;
  name: string;
  /** Networks with their addresses once it has some, else the names that were asked for. */
  networks: string;
  volumes: readonly string[];
  node: string;
  restarts: number;
  createdAt: string;
}

export interface WorkspaceRow extends Stated {
  name: string;
  /** "5/7". */
  ready: string;
  components: readonly ComponentRow[];
  networks: readonly { name: string; cidr: string }[];
  /** Machines and container clusters with the networks that they are on. */
  members: readonly Member[];
  createdAt: string;
}

export interface ComponentRow {
  kind: string;
  name: string;
  phase: string;
  reason: string;
  message: string;
  /** Its own object, if the page shows that. */
  at: ObjectAt | undefined;
}

export interface Member {
  kind: 'VirtualMachine' | 'ContainerCluster';
  name: string;
  /** With the fixed address, if it asks for one. */
  interfaces: readonly { network: string; address: string }[];
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

/** An object by itself: why it is not Ready, as `ot-functions why` says it, and its history. */
export interface Explanation {
  why: { steps: readonly { about: string; phase: string; says: string }[]; help: string; commands: readonly string[] };
  happenings: readonly Happening[];
}

export type Section = keyof View;
export const sections: readonly Section[] = ['cluster', 'images', 'machines', 'servers', 'workspaces', 'pruned'];

/** What changed from one view to the next: rows that are new or others, and keys of those that are gone. */
export type Changes = { [S in Section]?: { set: View[S]; gone: readonly string[] } };
