import type { Case, Step } from './case.ts';

const core = '/api/v1/namespaces/{ns}/events';
const newer = '/apis/events.k8s.io/v1/namespaces/{ns}/events';
const involvedObject = { kind: 'ConfigMap', namespace: '{ns}', name: 'a', uid: 'u', apiVersion: 'v1' };

const coreEvent: Step = {
  request: `POST ${core}`,
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
  status: 201,
};

const newEvent: Step = {
  request: `POST ${newer}`,
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
  status: 201,
};

export const eventCases: Case[] = [
  {
    name: 'an Event is kept once and read as core/v1 and as events.k8s.io/v1',
    steps: [
      coreEvent,
      newEvent,
      { request: `GET ${newer}/old`, status: 200, answer: { note: 'something is odd', deprecatedCount: 3 } },
      { request: `GET ${core}/new`, status: 200, answer: { message: 'something is odd', involvedObject } },
      { request: `GET ${newer}`, status: 200, answer: { kind: 'EventList', items: [{}, {}] } },
      { request: `DELETE ${newer}/old`, status: 200 },
      { request: `GET ${core}/old`, status: 404 },
    ],
  },
  {
    name: 'Events are found by what they are about',
    steps: [
      coreEvent,
      newEvent,
      {
        request: `GET ${core}?fieldSelector=involvedObject.name%3Da,type%3DWarning`,
        status: 200,
        answer: { items: [{ metadata: { name: 'old' } }] },
      },
      {
        request: `GET ${core}?fieldSelector=source%3Dcontract`,
        status: 200,
        answer: { items: [{ metadata: { name: 'old' } }] },
      },
      {
        request: `GET ${newer}?fieldSelector=regarding.name%3Da,reason%3DOdd,type%3DNormal`,
        status: 200,
        answer: { items: [{ metadata: { name: 'new' } }] },
      },
    ],
  },
  {
    name: 'an Event of events.k8s.io has more that it must say',
    steps: [
      { ...newEvent, body: { metadata: { name: 'x' }, regarding: involvedObject }, status: 422 },
      {
        request: `PATCH ${core}/old`,
        type: 'application/merge-patch+json',
        body: { count: 4 },
        status: 404,
      },
      coreEvent,
      { request: `PATCH ${core}/old`, type: 'application/merge-patch+json', body: { count: 4 }, status: 200 },
    ],
  },
];
