import type { Phase } from '../../../shared/resources/pelotech/vm-disk-image.ts';
import type { DemoImage } from './images.ts';

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
  most: { syncing: number; slots: number; importers: number };
  /** The images in the order in which they first got a slot. */
  startOrder: string[];
  overtakings: string[];
  leftOver: string[];
  bytesDownloaded: number;
  bytesNeeded: number;
  images: ImageResult[];
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
