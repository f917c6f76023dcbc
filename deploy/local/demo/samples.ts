import type { ImageResult, ImagesResult } from './images-report.ts';
import type { MachineResult, MachinesResult } from './machines-report.ts';
import type { PartResult, WorkspaceResult } from './workspace-report.ts';

/** An image as the tests of the reports have it: downloaded once, and ready. */
export const anImage = (more: Partial<ImageResult> = {}): ImageResult => ({
  name: 'ubuntu',
  phase: 'Succeeded',
  expected: { phase: 'Succeeded', attempts: 1 },
  attempts: 1,
  waitedSeconds: 1.2,
  bytesDownloaded: 1000,
  bytesNeeded: 1000,
  ratio: 1,
  hasSnapshot: true,
  reason: 'SnapshotReady',
  message: 'Ready.',
  steps: [],
  ...more,
});

/** One whose object is missing, as expected. */
export const aMissingImage = (more: Partial<ImageResult> = {}) =>
  anImage({
    phase: 'Failed',
    expected: { phase: 'Failed', attempts: 1, reason: 'NotFound' },
    reason: 'NotFound',
    bytesDownloaded: 0,
    bytesNeeded: 0,
    ratio: null,
    hasSnapshot: false,
    ...more,
  });

/** What came of the first act. */
export const images = (more: Partial<ImagesResult> = {}): ImagesResult => ({
  policy: { concurrency: 2, retryLimit: 2 },
  most: { slots: 2, importers: 2 },
  startOrder: ['ubuntu'],
  overtakings: [],
  leftOver: [],
  bytesDownloaded: 0,
  bytesNeeded: 0,
  images: [anImage()],
  ...more,
});

/** What is expected of a machine of which nothing is expected but that it gets Ready. */
export const plainly = { waits: false, contradicted: [], isDeleted: false };

/** A machine that runs, as expected. */
export const aMachine = (name: string, more: Partial<MachineResult> = {}): MachineResult => ({
  name,
  image: 'ubuntu',
  expected: plainly,
  phase: 'Ready',
  message: 'The machine runs.',
  ipAddress: '10.0.0.1',
  hasWaited: false,
  isGone: false,
  readyAfterSeconds: 1,
  deletedAtSeconds: null,
  warnings: [],
  steps: [],
  ...more,
});

/** What came of the second act. */
export const machines = (more: Partial<MachinesResult> = {}): MachinesResult => ({
  machines: [],
  deletion: { image: 'held', askedAtSeconds: null, held: [], goneAtSeconds: null },
  made: [{ name: 'late', times: 1, requestedBy: 'web' }],
  late: { name: 'late', bytesDownloaded: 1000, bytesNeeded: 1000 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
  ...more,
});

/** A part of a lab that got Ready. */
export const aPart = (more: Partial<PartResult> = {}): PartResult => ({
  kind: 'Volume',
  name: 'data',
  readyAfterSeconds: 2,
  phase: 'Ready',
  message: '',
  ...more,
});

/** What came of the third act: the lab got Ready, mended itself and went. */
export const aWorkspace = (more: Partial<WorkspaceResult> = {}): WorkspaceResult => ({
  name: 'lab',
  readyAfterSeconds: 3,
  parts: [aPart()],
  healing: { kind: 'ContainerCluster', name: 'app', deletedAtSeconds: 4, backAfterSeconds: 0.4 },
  deletion: { askedAtSeconds: 5, goneAfterSeconds: 1 },
  image: { name: 'base', bytesDownloaded: 1000, bytesNeeded: 1000 },
  otherBytesDownloaded: 0,
  tooEarly: [],
  leftOver: [],
  ...more,
});
