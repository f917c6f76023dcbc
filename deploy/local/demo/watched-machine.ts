import type { MachinePhase, VirtualMachine } from '../../../shared/kinds/pelotech/virtual-machine.ts';

/** What has been seen of one machine so far, by somebody who only watches it. */
export interface WatchedMachine {
  name: string;
  uid: string;
  /** The name of its image. */
  image: string;
  /** Empty until a function has looked at it. */
  phase: MachinePhase | '';
  message: string;
  ipAddress: string;
  isTerminating: boolean;
  steps: readonly MachineStep[];
}

/** The machine said something new of itself. */
export interface MachineStep {
  phase: MachinePhase | '';
  message: string;
  atMs: number;
}

/** Takes another state of the machine into account; the same object comes back where nothing changed that is told here. */
export function watchMachine(
  before: WatchedMachine | undefined,
  { metadata, spec, status }: VirtualMachine,
  nowMs: number,
): WatchedMachine {
  const { phase = '', message = '', ipAddress = '' } = status ?? {};
  const isTerminating = metadata.deletionTimestamp !== undefined;
  const known = before?.uid === metadata.uid ? before : undefined;
  const last = known?.steps.at(-1);
  const isStep = last?.phase !== phase || last.message !== message;
  if (known && !isStep && known.ipAddress === ipAddress && known.isTerminating === isTerminating) return known;
  const step: MachineStep = { phase, message, atMs: nowMs };
  return {
    name: metadata.name,
    uid: metadata.uid,
    image: spec.vmDiskImageRef.name,
    phase,
    message,
    ipAddress,
    isTerminating,
    steps: [...(known?.steps ?? []), ...(isStep ? [step] : [])],
  };
}

/** When it was Ready for the first time, as far as was seen. */
export const readyAtMs = ({ steps }: WatchedMachine) => steps.find(({ phase }) => phase === 'Ready')?.atMs;

/** It said that it waited for its image. */
export const hasWaited = ({ steps }: WatchedMachine) =>
  steps.some(({ phase, message }) => phase === 'Provisioning' && message.startsWith('Waiting for VMDiskImage'));
