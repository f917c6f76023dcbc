import type { Cloud } from '../cloud.ts';
import { Refusal } from '../refusal.ts';
import type { Volume } from './state.ts';

/** What Nova says of a volume that Cinder does not let it have: Cinder's words in its own (nova 26 with cinder 21). */
export function notReservable({ ids }: Cloud, { id, status }: Volume): Refusal {
  const from = `(HTTP 400) (Request-ID: req-${ids.uuid()})`;
  const message =
    status === 'error'
      ? `Invalid input received: Invalid volume: Volume attachments can not be created if the volume is in an error state. The Volume ${id} currently has a status of: error  ${from}`
      : `Invalid volume: Invalid input received: Invalid volume: Volume ${id} status must be available or downloading to reserve, but the current status is ${status}. ${from}`;
  return new Refusal(400, message);
}
