import type { QueueForecast } from '../../../shared/images/queue-forecast.ts';

/** What a workspace that is to start later is judged by, beside its own images. */
export interface Queue {
  /** Undefined before any download is done. */
  forecast: QueueForecast | undefined;
  /** Why nothing starts. */
  stopped: string | undefined;
  /** The images that other workspaces are going to request. */
  booked: readonly Booking[];
}

/** A workspace that is to start later. */
export interface Booking {
  name: string;
  startsAtMs: number;
  /** Its images that nothing has requested yet, by name. */
  images: readonly string[];
}
