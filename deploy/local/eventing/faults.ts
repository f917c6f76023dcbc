import { seeded } from '../seeded.ts';
import type { Event } from './event.ts';

/** One event on its way to one Trigger. */
export interface Passage {
  event: Event;
  /** namespace/name */
  trigger: string;
}

/** What goes wrong between Broker and Triggers, for tests; nothing by default. */
export interface Faults {
  /** These are lost, while their sender was told 202. */
  drop?: 'all' | ((passage: Passage) => boolean);
  /** These are delivered twice. */
  duplicate?: 'all' | ((passage: Passage) => boolean);
  /** Milliseconds that these are held back. */
  delayMs?: number | ((passage: Passage) => number);
  /** Each is held back by a random time below `withinMs`, so that they overtake each other; same seed, same order. */
  reorder?: { seed: number; withinMs: number };
  /** The Broker answers 503 to every request. */
  outage?: boolean;
}

/** The delays in milliseconds after which a passage takes place: none where it is lost, two where it is doubled. */
export type Perturb = (passage: Passage) => readonly number[];

/** Turns faults into what happens to each passage; keeps the place in the seeded row of random numbers. */
export function perturb(faults: Faults): Perturb {
  const random = faults.reorder ? seeded(faults.reorder.seed) : () => 0;
  return (passage) => {
    if (applies(faults.drop, passage)) return [];
    const held = typeof faults.delayMs === 'function' ? faults.delayMs(passage) : (faults.delayMs ?? 0);
    const delayMs = () => held + Math.floor(random() * (faults.reorder?.withinMs ?? 0));
    return applies(faults.duplicate, passage) ? [delayMs(), delayMs()] : [delayMs()];
  };
}

const applies = (fault: 'all' | ((passage: Passage) => boolean) | undefined, passage: Passage) =>
  typeof fault === 'function' ? fault(passage) : fault === 'all';
