import type { z } from 'zod';
import type { Action, Facts } from './actions.ts';
import type { KubernetesObject, ObjectReference, Resource } from './kinds/resource.ts';
import type { Refusals } from './kubernetes/refusal.ts';
import type { LabelSelector } from './kubernetes/selectors.ts';
import type { Cached, CachedKind } from './runtime/cache.ts';
import type { Kube } from './runtime/kube.ts';
import type { Clouds } from './runtime/openstack/clouds.ts';
import type { ReadSource } from './runtime/sources/read-source.ts';

/**
 * The operator whose ApiServerSource, one for each system, brings the changes of a kind: its CRDs may be missing, and a source exits when
 * one of its kinds is not served. `own` is for single objects in the operator's namespace.
 */
export type SourceName = 'pelotech' | 'kupenstack' | 'cdi' | 'snapshotter' | 'kubevirt' | 'kube-ovn' | 'own';

/**
 * What a function works for. Each system has an internal Broker with sources and timers of its own, so that its events cost the others
 * nothing; of another system's objects a function hears by the facts on the public Broker.
 */
export type System = 'images' | 'inspection' | 'pruning' | 'machines' | 'workspaces' | 'openstack';

/** Which changes of a kind, and the source that brings them. */
interface Changes {
  source: SourceName;
  /**
   * Only objects with these labels. Only the source can select by labels, since events carry none. Use labels that no other
   * operator changes during the life of the object (CDI sets its own `managed-by` on claims and importer Pods).
   */
  selector?: LabelSelector;
  /** Only the object of this name. */
  name?: string;
  /** Only (or only not) objects in the Namespace of a workspace; objects of a cluster-scoped kind are matched by name. */
  namespace?: 'workspace' | 'outsideWorkspaces';
  /** Only these changes of the object; a deletion proves nothing, like any event. */
  verbs?: readonly ChangeVerb[];
}

/** What a function subscribes to: a change of an object, a posted event, what no other function accepted, or time. */
export type Subscription =
  | ({ on: 'changed'; resource: Resource } & Changes)
  | {
      on: 'event';
      type: string;
      schema: z.ZodType;
      /** Only with these extension attributes. */
      attributes?: Readonly<Record<string, string>>;
      /** The Broker delivers it again for hours, not for a minute, because no sweep recovers it. */
      forHours?: boolean;
    }
  | { on: 'deadLetter' }
  | { on: 'sweep' }
  | { on: 'audit' };

const changed =
  (verbs?: readonly ChangeVerb[]) =>
  (resource: Resource, only: Omit<Changes, 'verbs'>): Subscription => ({
    on: 'changed',
    resource,
    ...only,
    ...(verbs ? { verbs } : {}),
  });

export const on = {
  /** A change of any object of the kind (or of those that `only` names). */
  changed: changed(),
  /** The end of an object of the kind. */
  deleted: changed(['delete']),
  /** An object of the kind is created or deleted. */
  createdOrDeleted: changed(['add', 'delete']),
  /** What happens to an object of the kind after it was created. */
  updatedOrDeleted: changed(['update', 'delete']),
  /** A CloudEvent of this type; data that does not fit `schema` is refused with the list of faults. */
  event: (type: string, schema: z.ZodType, how: { forHours?: boolean } = {}): Subscription => ({
    on: 'event',
    type,
    schema,
    ...how,
  }),
  /** An event of any type that another function did not take; a function with this subscription has no other. */
  deadLetter: (): Subscription => ({ on: 'deadLetter' }),
  /** The short timer: look at all that is under way. */
  sweep: (): Subscription => ({ on: 'sweep' }),
  /** The long timer: look at everything there is. */
  audit: (): Subscription => ({ on: 'audit' }),
};

type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch' | 'delete' | 'bind';

/** One rule of a function's Role. */
export interface Permission {
  resource: Resource;
  verbs: readonly Verb[];
  /** `source` of DataVolumes is CDI's right to clone from a namespace. */
  subresource?: 'status' | 'source';
  /**
   * `own` = only in the operator's namespace (a Role there); `workspace` = only in the Namespaces of workspaces (a ClusterRole
   * that is bound in each of them by the function itself); `images` = only in the namespaces of images (likewise, but bound by an admin or
   * the installer); absent = everywhere (a ClusterRole).
   */
  namespace?: 'own' | 'workspace' | 'images';
  /** Only objects of these names. */
  names?: readonly string[];
  /**
   * A ValidatingAdmissionPolicy enforces that what is written is a workspace's by its name or its Namespace, or that it is the
   * cloud-init Secret of a machine, or that it leaves a spec as it is.
   */
  admissionPolicy?: 'workspace' | 'cloudInit' | 'metadata';
}

/** The object that an event names. Its state is read from the API server. */
export interface Subject {
  apiVersion: string;
  kind: string;
  namespace: string | undefined;
  name: string;
  /** What the event says happened to it; absent if no event named it. */
  verb?: ChangeVerb;
}

export type ChangeVerb = 'add' | 'update' | 'delete';

export const subjectNamed = (
  { apiVersion, kind }: Pick<Resource, 'apiVersion' | 'kind'>,
  { namespace, name }: ObjectReference,
): Subject => ({ apiVersion, kind, namespace, name });

/** Tells the objects that events name apart, whatever happened to them. */
export const keyOfSubject = ({ apiVersion, kind, namespace, name }: Subject) =>
  [apiVersion, kind, namespace, name].join('\u0000');

export const subjectOf = (object: About): Subject => subjectNamed(object, object.metadata);

/** The object alone, whatever happened to it. */
export const withoutVerb = ({ verb, ...subject }: Subject): Subject => subject;

interface About {
  apiVersion: string;
  kind: string;
  metadata: ObjectReference;
}

/** An event of another's making whose data fitted its schema. */
export interface Message {
  id: string;
  type: string;
  source: string;
  /** When it happened, according to its sender or else the Broker; absent if neither says. */
  time: string | undefined;
  /** What its schema made of its data; of a dead letter the DeadLetter. */
  data: unknown;
  signed?: Signed | undefined;
}

/** The signature that came with an event, which nothing has verified. */
export interface Signed {
  /** Seconds since 1970. */
  timestamp: string;
  signature: string;
  /** What was signed of the data. */
  content: string;
}

/** What is known of an event that no function took: its attributes and how it failed, never its data. */
export interface DeadLetter {
  id: string;
  type: string;
  source: string;
  subject: string | undefined;
  /** The object that it is about, if any. */
  about: Subject | undefined;
  /** The function that did not accept it, according to the path of the request, else to the Broker. It is not verified. */
  failed: string | undefined;
  /** The status that function answered with; absent where it gave no answer at all. */
  code: string | undefined;
  /** What its answer says was wrong with the event, on one line, if it said so. It is not verified. */
  faults: string | undefined;
}

/** All events that one reconcile serves. */
export interface Batch {
  subjects: readonly Subject[];
  messages: readonly Message[];
  sweep: boolean;
  audit: boolean;
  /** What the function's own `audit` found worth looking at; absent for a function without one, whose audit looks at everything at once. */
  audited?: readonly Subject[];
  /** What that `audit` found of all objects together, for the reconcile that ends it. */
  totals?: Totals;
}

type Totals = Readonly<Record<string, number | undefined>>;

/** A batch without events, to be filled. */
export const noEvents: Batch = { subjects: [], messages: [], sweep: false, audit: false };

/** What a reconcile knows of the decisions that are performed beside it (shared/runtime/beside.ts). */
export interface KnownBeside {
  /** The objects of decisions that are not done, by uid. A reconcile leaves them alone. */
  busy: ReadonlySet<string>;
  /** How many more decisions there is room for. */
  room: number;
  /** A reconcile begins as soon as there is room. */
  isAwaited: boolean;
}

export interface Context {
  kube: Pick<Kube, 'get' | 'list' | 'pages'>;
  /** Milliseconds since 1970. */
  nowMs: number;
  refusals: Refusals;
  /** The OpenStacks of the namespaces, asked only at addresses that `allows` takes. Throws for a function that was given none. */
  openClouds(allows: (url: string) => boolean): Clouds;
  /** Reads a part of what an image would be downloaded from. */
  readSource?: ReadSource | undefined;
  /** Reads a cached kind of the function; absent if it declares none (shared/runtime/cache.ts). */
  cached?: Cached['cached'];
  /** What is performed beside this reconcile; nothing if absent. */
  beside?: KnownBeside | undefined;
  /** How long nothing is granted after the slot Lease was lost. */
  gracePeriodMs: number;
}

/**
 * A platform that a cluster may not have. What belongs to `kubevirt` or `kube-ovn` is left out of an installation where the platform
 * is missing; what belongs to `openstack` is installed only where it is asked for.
 */
export type Part = 'kubevirt' | 'kube-ovn' | 'openstack';

/** A function: what it subscribes to, what it may do, what it reads, what it decides. */
export interface FunctionDeclaration<Observed = unknown, Read = Observed> {
  name: string;
  /** The system that it belongs to; without one it hears the public Broker alone. */
  system?: System;
  /** The platform without which it has nothing to do. */
  part?: Part;
  on: readonly Subscription[];
  may: readonly Permission[];
  /** `always`: one instance; `single`: one, and not a second even while it is replaced; `zero`: none while nothing happens. */
  scale: 'zero' | 'always' | 'single';
  /** It reads the sources of images: its Pods may reach what importers may. */
  readsSources?: true;
  /** Only for a function that always runs. They are caches and no triggers: events alone start a reconcile. */
  caches?: readonly CachedKind[];
  /** What it publishes about its objects, so that a process can publish what the process before it could not. */
  facts?: Facts;
  /**
   * Walks at an audit, and after an edit of the policy, through everything there is, page by page, and names the objects that may need
   * something. It holds what it read for no longer than it must, and what it read decides nothing: each page is observed in a reconcile
   * of its own. Of an audit with totals one more reconcile is the end.
   */
  audit?(context: Pick<Context, 'kube' | 'nowMs'>): AsyncGenerator<readonly Subject[], Totals | undefined>;
  /** Reads what the decisions need: one entry for each decision, each decided and performed on its own. */
  observe(context: Context, batch: Batch): Promise<readonly (Read | Unreadable)[]>;
  /** Makes the entries of the decisions from what was read, if they share it. Pure. */
  split?(read: Read): readonly Observed[];
  /**
   * The object of a decision that no reconcile is to wait for: it is performed beside the next ones, which leave the object alone until then
   * (shared/runtime/beside.ts). Its actions create nothing, and write to that object alone.
   */
  beside?(observed: Observed): KubernetesObject | undefined;
  /** Pure: no clock, no network, no chance. */
  decide(observed: Observed): readonly Action[];
}

/** An object that could not be read in a reconcile, and why. The reconcile decides nothing about it, and only its events are redelivered. */
export interface Unreadable {
  unreadable: ObjectReference;
  error: unknown;
}

/** Checks the types of a declaration; changes nothing. */
export const defineFunction = <Observed, Read = Observed>(
  declaration: FunctionDeclaration<Observed, Read>,
): FunctionDeclaration<Observed, Read> => declaration;

/** The subjects of a kind, and those that the audit found. */
export const subjectsOf = ({ subjects, audited = [] }: Batch, resource: Resource<KubernetesObject>) =>
  [...subjects, ...audited].filter(
    ({ apiVersion, kind }) => apiVersion === resource.apiVersion && kind === resource.kind,
  );
