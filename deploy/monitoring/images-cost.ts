import { type Dashboard, rowsOf } from './dashboard.ts';
import { counts, here, rise, series, stateOfAll } from './expressions.ts';

const estimated = (matchers: string, by: string, window: string) =>
  rise(series('ot.image.download.estimated', `${here}${matchers}`), by, window);

const wasted = estimated(',result!="success"', '', '$__range');

/** What fails, and what it costs. */
export const imagesCost: Dashboard = {
  uid: 'ot-images-cost',
  title: 'Images: what fails, and what it costs',
  description:
    'Attempts and why they fail, bytes downloaded against bytes needed, events that no function accepted. On a real cluster bytes are estimates: the disk size for each attempt that started.',
  rows: rowsOf({
    Now: {
      'Failed finally': {
        description: 'Images that are not tried again by themselves.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.image.failed', here), ''), legend: '' }],
        alerts: ['OtImageFailed'],
        redFrom: 1,
      },
      'To be tried again': {
        description: 'Images whose last attempt failed, and that wait for the next.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: stateOfAll(series('ot.images', `${here},phase="Retrying"`)), legend: '' }],
      },
      Downloaded: {
        description: 'At most, in the time shown.',
        unit: 'bytes',
        shape: 'number',
        queries: [{ expr: estimated('', '', '$__range'), legend: '' }],
      },
      Needed: {
        description: 'What attempts that succeeded downloaded of that.',
        unit: 'bytes',
        shape: 'number',
        queries: [{ expr: estimated(',result="success"', '', '$__range'), legend: '' }],
      },
      'Downloaded for nothing': {
        description: 'The share of failed and superseded attempts.',
        unit: 'percentunit',
        shape: 'number',
        queries: [
          {
            // Without a failure there is no such series, and the share is none.
            expr: `(${wasted} or 0 * ${estimated('', '', '$__range')}) / ${estimated('', '', '$__range')}`,
            legend: '',
          },
        ],
        alerts: ['OtRetriesBurnBytes'],
        redFrom: 0.33,
      },
      'Of the budget': {
        description: "What is spent of the policy's egressBudget; empty without a budget.",
        unit: 'percentunit',
        shape: 'number',
        queries: [
          {
            expr: `${stateOfAll(series('ot.egress.spent', here))} / ${stateOfAll(series('ot.egress.budget', here))}`,
            legend: '',
          },
        ],
        alerts: ['OtEgressBudgetNearlySpent'],
        redFrom: 0.8,
      },
      'Dead letters': {
        description: 'Events that no function took, in the time shown.',
        unit: 'short',
        shape: 'number',
        queries: [{ expr: rise(series('ot.dead.letters', here), '', '$__range'), legend: '' }],
        alerts: ['OtDeadLetters'],
        redFrom: 1,
      },
    },
    'What fails': {
      'Failed images by reason': {
        description: 'The word is that of the condition Ready: kubectl describe vmdi says the rest.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: `${stateOfAll(series('ot.image.failed', here), 'reason')} > 0`, legend: '{{reason}}' }],
        alerts: ['OtImageFailed'],
      },
      'Attempts that ended, over the last hour': {
        description: 'Superseded ones were ended by a newer revision.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: rise(series('ot.image.sync.attempts', here), 'result', '1h'), legend: '{{result}}' }],
      },
      'Attempts that failed, by reason, in the time shown': {
        description: 'What fails most often is on top.',
        unit: 'short',
        shape: 'bars',
        queries: [
          {
            expr: `sort_desc(${rise(series('ot.image.sync.attempts', `${here},result="failure"`), 'reason', '$__range')})`,
            legend: '{{reason}}',
          },
        ],
        alerts: ['OtImageFailed', 'OtRetriesBurnBytes'],
      },
      'Images by phase': {
        description: 'Succeeded images are not counted.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: stateOfAll(series('ot.images', here), 'phase'), legend: '{{phase}}' }],
      },
    },
    'What it costs, over the last hour': {
      'Bytes downloaded against bytes needed': {
        description: 'What is above "needed" was downloaded for nothing. All of it at most: CDI tells no better.',
        unit: 'bytes',
        shape: 'lines',
        queries: [
          { expr: estimated('', '', '1h'), legend: 'downloaded' },
          { expr: estimated(',result="success"', '', '1h'), legend: 'needed' },
        ],
        alerts: ['OtRetriesBurnBytes'],
      },
      'Bytes by how the attempt ended': {
        description: 'Failures: retries and their causes. Superseded: images that changed while they were downloaded.',
        unit: 'bytes',
        shape: 'stacked',
        queries: [{ expr: estimated('', 'result', '1h'), legend: '{{result}}' }],
        alerts: ['OtRetriesBurnBytes'],
      },
      'Bytes downloaded, exact': {
        description: 'What the object store sent: on the local cluster only; elsewhere it is not measured.',
        unit: 'bytes',
        shape: 'lines',
        queries: [{ expr: rise(series('ot.image.download.io', here), '', '1h'), legend: 'downloaded' }],
      },
      'Images that went': {
        description: 'By the rule that deleted them; each may be downloaded again one day.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: rise(series('ot.image.pruned', here), 'rule', '1h'), legend: '{{rule}}' }],
      },
    },
    'Whose bytes, over the last hour': {
      'Bytes by namespace of the image': {
        description:
          "Namespaces beyond the policy's imageNamespaces are others: ot-functions cost names them, and images and requesters.",
        unit: 'bytes',
        shape: 'stacked',
        queries: [{ expr: estimated('', 'image_namespace', '1h'), legend: '{{image_namespace}}' }],
      },
      'Bytes by who asked': {
        description:
          'A publication, a VirtualMachine or a Workspace; direct: the image itself was created. ot-functions cost --by requester has their names.',
        unit: 'bytes',
        shape: 'stacked',
        queries: [{ expr: estimated('', 'requester', '1h'), legend: '{{requester}}' }],
      },
    },
    'Events, over the last hour': {
      'Dead letters': {
        description: 'By the function that did not accept them and what they were about.',
        unit: 'short',
        shape: 'stacked',
        queries: [
          {
            expr: rise(series('ot.dead.letters', here), 'function, event', '1h'),
            legend: '{{function}} ({{event}})',
          },
        ],
        alerts: ['OtDeadLetters'],
      },
      'Refused attempts': {
        description: 'What authors and senders asked for and may not have, by reason.',
        unit: 'short',
        shape: 'stacked',
        queries: [
          {
            expr: rise(series('ot.refused.attempts', here), 'function, reason', '1h'),
            legend: '{{reason}} ({{function}})',
          },
        ],
        alerts: ['OtAttemptsRefused'],
      },
      'Answers to events': {
        description: 'conflict and later: the Broker brings the event again. malformed: the sender has to be mended.',
        unit: 'short',
        shape: 'stacked',
        queries: [{ expr: rise(counts('ot.event.handling.duration', here), 'result', '1h'), legend: '{{result}}' }],
        alerts: ['OtDeadLetters'],
      },
      'Writes that conflicted with another writer': {
        description: 'Harmless, and slow: many at the Lease mean that start-sync runs more than once.',
        unit: 'short',
        shape: 'lines',
        queries: [
          { expr: rise(series('ot.write.conflicts', here), 'function', '1h'), legend: '{{function}}' },
          { expr: rise(series('ot.lease.conflicts', here), 'function', '1h'), legend: '{{function}}: Lease' },
        ],
      },
    },
  }),
};
