import type { Recording } from './alert.ts';
import { counts, rise, series } from './expressions.ts';

const recording = (by: readonly string[], what: string, selector: string, window: string): Recording => ({
  record: `${by.join('_')}:${what}:rise${window}`,
  expr: rise(selector, by.join(', '), window),
});

/** How many bytes attempts may have cost, by how they ended. */
export const bytesRecording = recording(
  ['namespace', 'result'],
  'ot_image_download_estimated_bytes',
  series('ot.image.download.estimated'),
  '6h',
);

/** Events that no function took. */
export const deadLettersRecording = recording(
  ['namespace', 'function', 'event'],
  'ot_dead_letters',
  series('ot.dead.letters'),
  '1h',
);

/** What authors and senders asked for and may not have. */
export const refusedRecording = recording(
  ['namespace', 'function', 'reason'],
  'ot_refused_attempts',
  series('ot.refused.attempts'),
  '1h',
);

/** What only a timer found. */
export const missedRecording = recording(
  ['namespace', 'function'],
  'ot_events_missed',
  series('ot.events.missed'),
  '1h',
);

/** Events that a function acted upon. */
export const handledRecording = recording(
  ['namespace', 'function'],
  'ot_events_done',
  counts('ot.event.handling.duration', 'result="done"'),
  '1h',
);

/** Requests to OpenStack, by what came of them. */
export const callsRecording = recording(
  ['namespace', 'service', 'code'],
  'ot_openstack_calls',
  counts('ot.openstack.call.duration'),
  '15m',
);

/** What is worked out once for all alerts; named by its labels, by what it counts and over how long. */
export const recordings: readonly Recording[] = [
  bytesRecording,
  deadLettersRecording,
  refusedRecording,
  missedRecording,
  handledRecording,
  callsRecording,
];
