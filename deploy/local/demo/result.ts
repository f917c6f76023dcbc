import type { MachinePhase } from '../../../shared/kinds/pelotech/virtual-machine.ts';
import type { DemoImage } from './images.ts';
import type { DemoMachine } from './machines.ts';
import type { Part } from './workspace.ts';

/** What came of the demo; `--json` prints it as it is. */
export interface DemoResult {
  ok: boolean;
  /** What is not as it was expected, one sentence each. */
  faults: string[];
  seconds: number;
  /** It was given up because it took too long. */
  isLate: boolean;
  policy: { concurrency: number; retryLimit: number };
  /** The most that were seen at one time. */
  most: { slots: number; importers: number };
  /** The images in the order in which they first got a slot. */
  startOrder: string[];
  overtakings: string[];
  leftOver: string[];
  bytesDownloaded: number;
  bytesNeeded: number;
  images: ImageResult[];
  /** The second act; null where the first one took all the time there was. */
  machines: MachinesResult | null;
  /** The third act; null where there was no time left for it. */
  workspace: WorkspaceResult | null;
}

/** What became of one image. */
export interface ImageResult {
  name: string;
  phase: string;
  expected: DemoImage['expected'];
  attempts: number;
  waitedSeconds: number;
  bytesDownloaded: number;
  /** How large its object is; 0 where it is missing. */
  bytesNeeded: number;
  /** bytesDownloaded / bytesNeeded; null where nothing is needed. */
  ratio: number | null;
  hasSnapshot: boolean;
  reason: string;
  message: string;
  steps: { phase: string; atSeconds: number }[];
}

/** What came of the second act. */
export interface MachinesResult {
  machines: MachineResult[];
  deletion: DeletionResult;
  /** The images that were made meanwhile, how often, and the machine that asked first. */
  made: { name: string; times: number; requestedBy: string }[];
  /** The image that was not there when its machines were applied. */
  late: { name: string; bytesDownloaded: number; bytesNeeded: number };
  /** What else was downloaded. */
  otherBytesDownloaded: number;
  /** What was done before its time. */
  tooEarly: string[];
  leftOver: string[];
}

/** What became of one machine. */
export interface MachineResult {
  name: string;
  image: string;
  expected: DemoMachine['expected'];
  /** The last that was seen. */
  phase: MachinePhase | '';
  message: string;
  ipAddress: string;
  /** It said that it waited for its image. */
  hasWaited: boolean;
  isGone: boolean;
  /** From its creation; null where it never was. */
  readyAfterSeconds: number | null;
  deletedAtSeconds: number | null;
  warnings: { reason: string; message: string }[];
  steps: { phase: MachinePhase | ''; message: string; atSeconds: number }[];
}

/** What became of the image that was deleted while machines held it. */
export interface DeletionResult {
  image: string;
  askedAtSeconds: number | null;
  /** What DeletionHeld said, whenever that changed, and the machines it named. */
  held: { atSeconds: number; by: string[]; message: string }[];
  goneAtSeconds: number | null;
}

/** What came of the third act. */
export interface WorkspaceResult {
  name: string;
  /** From its application; null where it never was. */
  readyAfterSeconds: number | null;
  /** What it is made of, in the order of its status. */
  parts: PartResult[];
  /** The part that was deleted under it. */
  healing: {
    kind: string;
    name: string;
    deletedAtSeconds: number | null;
    /** Until another was in its place and the workspace was Ready again; null where that never came. */
    backAfterSeconds: number | null;
  };
  deletion: {
    askedAtSeconds: number | null;
    /** Until neither the workspace nor anything that was made for it was there; null where something stayed. */
    goneAfterSeconds: number | null;
  };
  /** The image that was made for it. */
  image: { name: string; bytesDownloaded: number; bytesNeeded: number };
  /** What else was downloaded. */
  otherBytesDownloaded: number;
  /** What was made before its time. */
  tooEarly: string[];
  leftOver: string[];
}

/** What became of one part of a workspace. */
export interface PartResult extends Part {
  /** From the application of the workspace; null where it never was. */
  readyAfterSeconds: number | null;
  /** The last that was said of it before the workspace was deleted. */
  phase: string;
  message: string;
}
