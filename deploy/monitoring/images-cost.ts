import { bars, type Dashboard, lines, number, rowsOf, stacked } from './dashboard.ts';
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
        ...number(stateOfAll(series('ot.image.failed', here), '')),
        alerts: ['OtImageFailed'],
        redFrom: 1,
      },
      'To be tried again': {
        description: 'Images whose last attempt failed, and that wait for the next.',
        ...number(stateOfAll(series('ot.images', `${here},phase="Retrying"`))),
      },
      Downloaded: {
        description: 'At most, in the time shown.',
        unit: 'bytes',
        ...number(estimated('', '', '$__range')),
      },
      Needed: {
        description: 'What attempts that succeeded downloaded of that.',
        unit: 'bytes',
        ...number(estimated(',result="success"', '', '$__range')),
      },
      'Downloaded for nothing': {
        description: 'The share of failed and superseded attempts.',
        unit: 'percentunit',
        // Without a failure there is no such series, and the share is none.
        ...number(`(${wasted} or 0 * ${estimated('', '', '$__range')}) / ${estimated('', '', '$__range')}`),
        alerts: ['OtRetriesBurnBytes'],
        redFrom: 0.33,
      },
      'Of the budget': {
        description: "What is spent of the policy's egressBudget; empty without a budget.",
        unit: 'percentunit',
        ...number(`${stateOfAll(series('ot.egress.spent', here))} / ${stateOfAll(series('ot.egress.budget', here))}`),
        alerts: ['OtEgressBudgetNearlySpent'],
        redFrom: 0.8,
      },
      'Dead letters': {
        description: 'Events that no function took, in the time shown.',
        ...number(rise(series('ot.dead.letters', here), '', '$__range')),
        alerts: ['OtDeadLetters'],
        redFrom: 1,
      },
    },
    'What fails': {
      'Failed images by reason': {
        description: 'The word is that of the condition Ready: kubectl describe vmdi says the rest.',
        ...stacked({ '{{reason}}': `${stateOfAll(series('ot.image.failed', here), 'reason')} > 0` }),
        alerts: ['OtImageFailed'],
      },
      'Attempts that ended, over the last hour': {
        description: 'Superseded ones were ended by a newer revision.',
        ...stacked({ '{{result}}': rise(series('ot.image.sync.attempts', here), 'result', '1h') }),
      },
      'Attempts that failed, by reason, in the time shown': {
        description: 'What fails most often is on top.',
        ...bars({
          '{{reason}}': `sort_desc(${rise(series('ot.image.sync.attempts', `${here},result="failure"`), 'reason', '$__range')})`,
        }),
        alerts: ['OtImageFailed', 'OtRetriesBurnBytes'],
      },
      'Images by phase': {
        description: 'Succeeded images are not counted.',
        ...stacked({ '{{phase}}': stateOfAll(series('ot.images', here), 'phase') }),
      },
    },
    'What it costs, over the last hour': {
      'Bytes downloaded against bytes needed': {
        description: 'What is above "needed" was downloaded for nothing. All of it at most: CDI tells no better.',
        unit: 'bytes',
        ...lines({ downloaded: estimated('', '', '1h'), needed: estimated(',result="success"', '', '1h') }),
        alerts: ['OtRetriesBurnBytes'],
      },
      'Bytes by how the attempt ended': {
        description: 'Failures: retries and their causes. Superseded: images that changed while they were downloaded.',
        unit: 'bytes',
        ...stacked({ '{{result}}': estimated('', 'result', '1h') }),
        alerts: ['OtRetriesBurnBytes'],
      },
      'Bytes downloaded, exact': {
        description: 'What the object store sent: on the local cluster only; elsewhere it is not measured.',
        unit: 'bytes',
        ...lines({ downloaded: rise(series('ot.image.download.io', here), '', '1h') }),
      },
      'Images that went': {
        description: 'By the rule that deleted them; each may be downloaded again one day.',
        ...stacked({ '{{rule}}': rise(series('ot.image.pruned', here), 'rule', '1h') }),
      },
    },
    'Whose bytes, over the last hour': {
      'Bytes by namespace of the image': {
        description:
          "Namespaces beyond the policy's imageNamespaces are others: ot-functions cost names them, and images and requesters.",
        unit: 'bytes',
        ...stacked({ '{{image_namespace}}': estimated('', 'image_namespace', '1h') }),
      },
      'Bytes by who asked': {
        description:
          'A publication, a VirtualMachine or a Workspace; direct: the image itself was created. ot-functions cost --by requester has their names.',
        unit: 'bytes',
        ...stacked({ '{{requester}}': estimated('', 'requester', '1h') }),
      },
    },
    'Events, over the last hour': {
      'Dead letters': {
        description: 'By the function that did not accept them and what they were about.',
        ...stacked({ '{{function}} ({{event}})': rise(series('ot.dead.letters', here), 'function, event', '1h') }),
        alerts: ['OtDeadLetters'],
      },
      'Refused attempts': {
        description: 'What authors and senders asked for and may not have, by reason.',
        ...stacked({
          '{{reason}} ({{function}})': rise(series('ot.refused.attempts', here), 'function, reason', '1h'),
        }),
        alerts: ['OtAttemptsRefused'],
      },
      'Answers to events': {
        description: 'conflict and later: the Broker brings the event again. malformed: the sender has to be mended.',
        ...stacked({ '{{result}}': rise(counts('ot.event.handling.duration', here), 'result', '1h') }),
        alerts: ['OtDeadLetters'],
      },
      'Writes that conflicted with another writer': {
        description: 'Harmless, and slow: many at the Lease mean that start-sync runs more than once.',
        ...lines({
          '{{function}}': rise(series('ot.write.conflicts', here), 'function', '1h'),
          '{{function}}: Lease': rise(series('ot.lease.conflicts', here), 'function', '1h'),
        }),
      },
    },
  }),
};
