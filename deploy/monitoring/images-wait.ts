import { bars, type Dashboard, lines, number, rowsOf, stacked } from './dashboard.ts';
import { halfAndNineOfTen, here, quantile, rise, series, state, stateOfAll } from './expressions.ts';

/** How long images wait, and what for. */
export const imagesWait: Dashboard = {
  uid: 'ot-images-wait',
  title: 'Images: how long they wait, and why',
  description:
    'From the queue to a slot, from a slot to a snapshot, and what each image that is not there yet waits for.',
  rows: rowsOf({
    Now: {
      'In the queue': {
        description: 'Images that wait for a slot.',
        ...number(stateOfAll(series('ot.image.queue.length', here))),
        alerts: ['OtNothingSyncs', 'OtImagesWaitWhilePaused'],
      },
      'Slots held': {
        description: 'Downloads that run.',
        ...number(stateOfAll(series('ot.slots.held', here))),
      },
      'Slots free': {
        description: 'With images in the queue and none free, concurrency is what they wait for.',
        ...number(stateOfAll(series('ot.slots.free', here))),
      },
      'Longest in the queue': {
        description: 'How long the first image in the queue has waited.',
        unit: 's',
        ...number(`max(${series('ot.image.wait.duration', `${here},reason=~"Slot.*|Paused|InvalidPolicy"`)})`),
        alerts: ['OtImagesWaitLong'],
        redFrom: 6 * 3600,
      },
      'Slot without progress': {
        description: 'How long the slot that moves least has not moved.',
        unit: 's',
        ...number(`max(${series('ot.slots.idle.duration', `${here},progress="reported"`)})`),
        alerts: ['OtSlotWithoutProgress'],
        redFrom: 1800,
      },
      'Policy parses': {
        description: 'No: nothing that depends on the key starts.',
        unit: 'bool_yes_no',
        ...number(`min(${series('ot.policy.valid', here)})`),
        alerts: ['OtPolicyInvalid', 'OtStateUnknown'],
        greenFrom: 1,
      },
    },
    Why: {
      'Images by what they wait for': {
        description:
          'SlotsTaken is the queue at work; NamespaceFull waits for others of its namespace; SameContent for another image that downloads the same, to be cloned from it; SlotFree or Unseen for minutes means that start-sync does nothing; Importer means a Secret, a node or a quota; Backoff the pause before another attempt.',
        ...stacked({ '{{reason}}': stateOfAll(series('ot.image.waits', here), 'reason') }),
        alerts: ['OtNothingSyncs', 'OtImagesWaitWhilePaused'],
      },
      'Longest wait of those that wait now': {
        description: 'Of the image that waits longest for each.',
        unit: 's',
        ...lines({ '{{reason}}': `max by (reason) (${series('ot.image.wait.duration', here)})` }),
        alerts: ['OtImagesWaitLong'],
      },
      'Time that all images together waited, by reason': {
        description: 'In the time shown: ten images that wait an hour make ten hours. What to change first is on top.',
        unit: 's',
        ...bars({
          '{{reason}}': `sort_desc(sum by (reason) (sum_over_time((${state(series('ot.image.waits', here), 'namespace, reason')})[$__range:1m])) * 60)`,
        }),
      },
      Slots: {
        description: 'Free slots beside a queue are not being assigned.',
        ...stacked({
          held: stateOfAll(series('ot.slots.held', here)),
          free: stateOfAll(series('ot.slots.free', here)),
        }),
        alerts: ['OtNothingSyncs'],
      },
    },
    'How long it took, over the last hour': {
      'From the queue to a slot': {
        description: 'Half of the images waited no longer than the lower line, nine of ten no longer than the upper.',
        unit: 's',
        ...lines(halfAndNineOfTen('ot.image.queue.wait.duration', here)),
        alerts: ['OtImagesWaitLong'],
      },
      'From a slot to the end of the attempt': {
        description: 'Nine of ten took no longer, by how they ended: long failures are what a timeout ends.',
        unit: 's',
        ...lines({ '{{result}}': quantile(0.9, 'ot.image.sync.duration', here, 'result') }),
      },
      'From the queue to a usable snapshot': {
        description: 'What people wait for, of attempts that succeeded.',
        unit: 's',
        ...lines(halfAndNineOfTen('ot.image.ready.duration', here)),
      },
      'Slot without progress': {
        description:
          'By whether the download tells how far it is: of one that does not, only syncTimeout is the judge.',
        unit: 's',
        ...lines({ '{{progress}}': `max by (progress) (${series('ot.slots.idle.duration', here)})` }),
        alerts: ['OtSlotWithoutProgress'],
      },
    },
    'Events, over the last hour': {
      'From an event to its answer': {
        description: 'Nine of ten took no longer. A function that slept takes a second or two more for its first.',
        unit: 's',
        ...lines({ '{{function}}': quantile(0.9, 'ot.event.handling.duration', here, 'function') }),
      },
      'What only a timer found': {
        description: 'Lost events cost up to 30 s (sweep) or ten minutes (audit) each.',
        ...stacked({ '{{function}} ({{timer}})': rise(series('ot.events.missed', here), 'function, timer', '1h') }),
        alerts: ['OtEventsMissed'],
      },
    },
  }),
};
