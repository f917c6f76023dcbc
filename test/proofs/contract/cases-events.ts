import { type Cases, step } from './case.ts';

const core = '/api/v1/namespaces/{ns}/events';
const newer = '/apis/events.k8s.io/v1/namespaces/{ns}/events';
const involvedObject = { kind: 'ConfigMap', namespace: '{ns}', name: 'a', uid: 'u', apiVersion: 'v1' };

const coreEvent = step(`POST ${core}`, 201, {
  body: {
    metadata: { name: 'old' },
    involvedObject,
    reason: 'Odd',
    message: 'something is odd',
    type: 'Warning',
    source: { component: 'contract', host: 'h' },
    firstTimestamp: '2020-01-01T00:00:00Z',
    lastTimestamp: '2020-01-01T00:01:00Z',
    count: 3,
  },
});

const newEvent = step(`POST ${newer}`, 201, {
  body: {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'new' },
    eventTime: '2020-01-01T00:00:00.000001Z',
    reportingController: 'example.com/contract',
    reportingInstance: 'one',
    action: 'Looking',
    reason: 'Odd',
    regarding: involvedObject,
    note: 'something is odd',
    type: 'Normal',
  },
});

export const eventCases: Cases = {
  'an Event is kept once and read as core/v1 and as events.k8s.io/v1': [
    coreEvent,
    newEvent,
    step(`GET ${newer}/old`, 200, { answer: { note: 'something is odd', deprecatedCount: 3 } }),
    step(`GET ${core}/new`, 200, { answer: { message: 'something is odd', involvedObject } }),
    step(`GET ${newer}`, 200, { answer: { kind: 'EventList', items: [{}, {}] } }),
    step(`DELETE ${newer}/old`, 200),
    step(`GET ${core}/old`, 404),
  ],
  'Events are found by what they are about': [
    coreEvent,
    newEvent,
    step(`GET ${core}?fieldSelector=involvedObject.name%3Da,type%3DWarning`, 200, {
      answer: { items: [{ metadata: { name: 'old' } }] },
    }),
    step(`GET ${core}?fieldSelector=source%3Dcontract`, 200, { answer: { items: [{ metadata: { name: 'old' } }] } }),
    step(`GET ${newer}?fieldSelector=regarding.name%3Da,reason%3DOdd,type%3DNormal`, 200, {
      answer: { items: [{ metadata: { name: 'new' } }] },
    }),
  ],
  'an Event of events.k8s.io has more that it must say': [
    { ...newEvent, body: { metadata: { name: 'x' }, regarding: involvedObject }, status: 422 },
    step(`PATCH ${core}/old`, 404, { type: 'application/merge-patch+json', body: { count: 4 } }),
    coreEvent,
    step(`PATCH ${core}/old`, 200, { type: 'application/merge-patch+json', body: { count: 4 } }),
  ],
};
