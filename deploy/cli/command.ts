import type { Cluster } from '../install/cluster.ts';
import type { Look } from '../terminal/paint.ts';

/** How a command ends, for scripts. */
export const exit = {
  /** Done; all of what was asked about is Ready. */
  done: 0,
  /** Something is Failed, was found wrong, or was refused. */
  failed: 1,
  /** Wrong usage. */
  usage: 2,
  /** The API server or the Broker cannot be reached, or does not let this account. */
  unreachable: 3,
  /** What was named is not there. */
  missing: 4,
  /** Nothing is Failed, and not everything is Ready yet. */
  underWay: 5,
  /** The time is over. */
  late: 124,
} as const;
export type ExitCode = (typeof exit)[keyof typeof exit];

/** What a command found: the same for people and for scripts. */
export interface Outcome {
  lines: readonly string[];
  json: unknown;
  code: ExitCode;
}

/** An option of a command. */
export interface Option {
  type: 'string' | 'boolean';
  short?: string;
  /** What stands for its value in the help. */
  value?: string;
  about: string;
  /** The values it may have, for completion. */
  values?: readonly string[];
}

/** A command line of one command, read. */
export interface Call {
  /** What stands beside the options. */
  words: readonly string[];
  text(option: string): string | undefined;
  is(option: string): boolean;
  namespace: string | undefined;
  /** The cluster, read from the kubeconfig when it is first asked for. */
  cluster(): Promise<Cluster>;
  nowMs: number;
  look: Look;
  /** Puts one line where the last one was, on a terminal; undefined in a pipe. */
  redraw: ((line: string) => void) | undefined;
  /** A line for people that comes before the end; nothing with --json. */
  say(line: string): void;
  /** Somebody wishes that it ends. */
  stop: AbortSignal;
}

/** One command of the command line, as the overview has it. */
export interface Listed {
  name: string;
  /** What it does, in half a line. */
  about: string;
  /** The rest of it. */
  load(): Promise<Body>;
}

/** How a command is called, and what it does. */
export interface Body {
  /** What may stand beside the options, as the help writes it. */
  words: string;
  options: Readonly<Record<string, Option>>;
  /** What one has to know beyond that, line by line. */
  details: readonly string[];
  examples: readonly string[];
  /** What its first word may be, for completion. */
  completions?: readonly string[];
  run(call: Call): Promise<Outcome>;
}

export type Command = Listed & Body;

export const loaded = async (listed: Listed): Promise<Command> => ({ ...listed, ...(await listed.load()) });

/** What was named is not there. */
export class NotThere extends Error {
  override name = 'NotThere';
}

/** What a command has to reach besides the API server does not answer. */
export class Unreachable extends Error {
  override name = 'Unreachable';
}

/** What was asked for is refused, with what was expected, what was found and what to do. */
export class Refused extends Error {
  override name = 'Refused';
}

/** Who writes, to the API server. */
export const fieldManager = 'ot-functions-cli';
