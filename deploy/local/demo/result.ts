import type { MachinePhase } from '../../../shared/resources/pelotech/virtual-machine.ts';
import type { Phase } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import type { DemoImage } from './images.ts';
import type { DemoMachine } from './machines.ts';

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
}

/** What became of one image. */
export interface ImageResult {
  name: string;
  phase: Phase | '';
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
  steps: { phase: Phase | ''; atSeconds: number }[];
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
