/** How long things take, in milliseconds on the simulator's clock. */
export interface Times {
  /** How long a token is good for. */
  token: number;
  /** Each of the four stages of a boot: scheduling, networking, block_device_mapping, spawning. */
  bootStage: number;
  stop: number;
  start: number;
  reboot: number;
  /** Each of the four stages of a resize. */
  resizeStage: number;
  confirm: number;
  /** From DELETE of a server to DELETED, and from there to 404. */
  deleteServer: number;
  attach: number;
  detach: number;
  /** From creating to available, without an image. */
  createVolume: number;
  /** Downloading an image into a volume. */
  download: number;
  deleteVolume: number;
  extend: number;
  /** An image import, beside what the download itself takes. */
  importImage: number;
}

/** About as fast as the real services on an idle machine. */
export const defaultTimes: Times = {
  token: 3_600_000,
  bootStage: 300,
  stop: 400,
  start: 400,
  reboot: 500,
  resizeStage: 300,
  confirm: 300,
  deleteServer: 300,
  attach: 300,
  detach: 300,
  createVolume: 300,
  download: 500,
  deleteVolume: 300,
  extend: 300,
  importImage: 500,
};
