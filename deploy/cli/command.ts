import type { Resource } from '../../shared/kinds/resource.ts';
import type { Look } from '../terminal/paint.ts';
import type { Cluster } from './install/cluster.ts';

/** The exit codes of commands, for scripts. */
export const exit = {
  /** Done; everything that was asked about is Ready. */
  done: 0,
  /** Something is Failed, is wrong, or was refused. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** The API server or the Broker cannot be reached, or denies access. */
  unreachable: 3,
  /** The named object does not exist. */
  missing: 4,
  /** Nothing is Failed, but not everything is Ready yet. */
  underWay: 5,
  /** Timed out. */
  late: 124,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** The result of a command: text for users, JSON for scripts. */
export interface Outcome {
  lines: readonly string[];
  json: unknown;
  /** Of a command that lists objects: each as `kubectl -o name` prints it, and for a line about it. */
  objects?: readonly { name: string; about: string; says: string }[];
  code: ExitCode;
}

/** An option of a command. */
export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  /** It may be repeated. */
  multiple?: true;
  /** The placeholder for its value in the help. */
  value?: string;
  about: string;
  /** The values that completion offers. */
  values?: readonly string[];
}

/** The cluster, and where in it to look. */
export interface Reached extends Cluster {
  /** As with kubectl -n, or else the namespace of the context; undefined for all of them (-A). */
  namespace: string | undefined;
}

/** Objects of a kind, of one namespace or name or of all. */
export interface Watched {
  resource: Resource;
  namespace?: string | undefined;
  name?: string;
}

/** The parsed command line of one command. */
export interface Call {
  /** The positional arguments. */
  words: readonly string[];
  text(option: string): string | undefined;
  is(option: string): boolean;
  /** The values of an option that may be repeated. */
  texts(option: string): readonly string[];
  /** What -n says. */
  namespace: string | undefined;
  /** The cluster; the kubeconfig is read on the first call. */
  cluster(): Promise<Reached>;
  nowMs: number;
  look: Look;
  /** Replaces the last line on a terminal; undefined in a pipe. */
  redraw: ((line: string) => void) | undefined;
  /** Prints a line before the command ends; does nothing where the output is for scripts. */
  say(line: string): void;
  /** Aborted when the user stops the command. */
  stop: AbortSignal;
}

/** How completion reaches the cluster of the command line so far. */
export interface Completing {
  cluster(): Promise<Reached>;
  contexts(): Promise<readonly string[]>;
}

/** A command as the overview lists it. */
export interface Listed {
  name: string;
  /** What it does, in half a line. */
  about: string;
  /** Loads the rest of the command. */
  load(): Promise<Body>;
}

/** The arguments of a command and its implementation. */
export interface Body {
  /** The positional arguments, as the help prints them. */
  words: string;
  options: Readonly<Record<string, Option>>;
  /** More help, line by line. */
  details: readonly string[];
  examples: readonly string[];
  /** What the word after these may be, for completion; after a slash at its end more follows. */
  complete?(before: readonly string[], current: string, at: Completing): Promise<readonly string[]>;
  /** Whose changes change its result. Such a command lists objects, and takes -o name and -w. */
  watches?(namespace: string | undefined): readonly Watched[];
  /** Ctrl-C ends it at once, between two requests; run again, it continues. Others end by themselves when `stop` is aborted. */
  stopsAtOnce?: true;
  run(call: Call): Promise<Outcome>;
}

export type Command = Listed & Body;

export const loaded = async (listed: Listed): Promise<Command> => ({ ...listed, ...(await listed.load()) });

/** The named object does not exist; `meant` is the one object that has its name elsewhere, as a user would type it. */
export class NotFound extends Error {
  override name = 'NotFound';
  meant: string | undefined;

  constructor(message: string, meant?: string) {
    super(message);
    this.meant = meant;
  }
}

/** A server other than the API server does not answer. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** The request is refused; the message says what was expected, what was found and what to do. */
export class Refused extends Error {
  override name = 'Refused';
}

export const fieldManager = 'ot-functions-cli';
