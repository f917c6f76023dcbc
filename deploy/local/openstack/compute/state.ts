import { type QuotaBook, quotaBook } from '../quotas.ts';

/** What a server may use of a host. */
export interface Flavor {
  id: string;
  name: string;
  vcpus: number;
  /** MiB. */
  ram: number;
  /** GiB. */
  disk: number;
  /** MiB. */
  swap: number;
  ephemeral: number;
  rxtxFactor: number;
  description: string | null;
  isPublic: boolean;
  extraSpecs: Record<string, string>;
}

/** A public key that Nova knows. */
export interface KeyPair {
  id: number;
  name: string;
  userId: string;
  publicKey: string;
  fingerprint: string;
  createdMs: number;
}

/** What a server is, whatever is being done to it. */
export type VmState = 'building' | 'active' | 'stopped' | 'paused' | 'suspended' | 'resized' | 'error' | 'deleted';

/** A volume that a server has, or has claimed. */
export interface ServerVolume {
  volumeId: string;
  /** `/dev/vda`. */
  device: string;
  isRoot: boolean;
  deleteOnTermination: boolean;
  tag: string | null;
}

export interface ServerPort {
  portId: string;
  /** Whether Nova created it, so that it is deleted with the server. */
  isNovas: boolean;
}

/** An action that was asked of a server. */
export interface InstanceAction {
  action: string;
  requestId: string;
  userId: string;
  projectId: string;
  startMs: number;
  updatedMs: number;
  message: string | null;
}

export interface Server {
  id: string;
  name: string;
  description: string | null;
  projectId: string;
  userId: string;
  vmState: VmState;
  taskState: string | null;
  /** 0 none, 1 running, 3 paused, 4 off, 7 suspended. */
  powerState: number;
  createdMs: number;
  updatedMs: number;
  launchedMs: number | undefined;
  host: string | null;
  flavor: Flavor;
  /** What it had before a resize that is not confirmed, and whether it was off. */
  before: { flavor: Flavor; vmState: VmState } | undefined;
  keyName: string | null;
  metadata: Record<string, string>;
  tags: string[];
  isLocked: boolean;
  lockedReason: string | null;
  fault: { code: number; created: number; message: string } | undefined;
  volumes: ServerVolume[];
  ports: ServerPort[];
  actions: InstanceAction[];
  /** The number of its current work: older work that finishes later is ignored. */
  work: number;
}

/** All that Nova knows. */
export interface ComputeState {
  flavors: Map<string, Flavor>;
  /** By user, then by name. */
  keyPairs: Map<string, Map<string, KeyPair>>;
  servers: Map<string, Server>;
  quotas: QuotaBook;
  lastKeyPair: number;
}

/** No flavor, no key, no server. */
export const emptyCompute = (quotas: Readonly<Record<string, number>>): ComputeState => ({
  flavors: new Map(),
  keyPairs: new Map(),
  servers: new Map(),
  quotas: quotaBook(quotas),
  lastKeyPair: 0,
});
