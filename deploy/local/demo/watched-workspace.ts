import type { Component, ComponentPhase, Workspace, WorkspacePhase } from '../../../shared/kinds/pelotech/workspace.ts';
import type { Part } from './workspace.ts';

/** What has been seen of a workspace so far, by somebody who only watches it. */
export interface WatchedWorkspace {
  uid: string;
  /** Empty until a function has looked at it. */
  phase: WorkspacePhase | '';
  message: string;
  /** "5/7", as its status counts. */
  ready: string;
  isTerminating: boolean;
  /** Its parts as they are now; of one that is being deleted, what is still there. */
  parts: readonly Component[];
  /** Its parts as they were last, before it was deleted. */
  before: readonly Component[];
  steps: readonly PartStep[];
}

/** A part went over into another phase. */
export interface PartStep extends Part {
  phase: ComponentPhase;
  message: string;
  atMs: number;
  /** The workspace was being deleted by then. */
  isTeardown: boolean;
}

/** Takes another state of the workspace into account; the steps that are new are the last ones. */
export function watchWorkspace(
  known: WatchedWorkspace | undefined,
  { metadata, status }: Workspace,
  nowMs: number,
): WatchedWorkspace {
  const before = known?.uid === metadata.uid ? known : undefined;
  const { phase = '', message = '', ready = '', components = [] } = status ?? {};
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const steps = components
    .filter((part) => before?.parts.find((one) => isSame(one, part))?.phase !== part.phase)
    .map(({ kind, name, phase, message }) => ({ kind, name, phase, message, atMs: nowMs, isTeardown: isTerminating }));
  return {
    uid: metadata.uid,
    phase,
    message,
    ready,
    isTerminating,
    parts: components,
    before: isTerminating ? (before?.before ?? []) : components,
    steps: [...(before?.steps ?? []), ...steps],
  };
}

export const isSame = (one: Part, other: Part) => one.kind === other.kind && one.name === other.name;

/** When the part was Ready for the first time, as far as was seen. */
export const partReadyAtMs = ({ steps }: WatchedWorkspace, part: Part) =>
  steps.find((step) => isSame(step, part) && step.phase === 'Ready')?.atMs;
