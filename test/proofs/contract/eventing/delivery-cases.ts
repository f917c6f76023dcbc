/** What a function answers, as data. */
export type Reply =
  | { status: number; headers?: Readonly<Record<string, string>>; body?: string; afterMs?: number }
  /** Nothing, ever. */
  | 'never'
  /** It cuts the connection. */
  | 'cut'
  /** 200 with a CloudEvent that the case's second and third function want. */
  | 'event'
  /** The same in structured mode. */
  | 'structured event'
  /** 302 or 307 to the case's function `target`. */
  | { redirect: 302 | 307 };

/** The further functions of a case; what each answers, the last for ever. */
export type Others = Partial<Record<'second' | 'third' | 'target' | 'letters', readonly Reply[]>>;

/** One event for one Trigger, and all that comes of it. */
export interface DeliveryCase {
  what: string;
  /** Answers of the Trigger's function, call by call; the last is for all further ones. Absent: nothing listens there. */
  answers?: readonly Reply[];
  /** `plain`: 3 retries, exponential from 0.2 s. `lettered`: 1 retry after 0.1 s and a dead letter sink. Others: as plain. */
  broker?: BrokerName;
  /** The Trigger's own; without, the Broker's holds. `{letters}` and `{service}` are addresses of the function `letters`. */
  delivery?: object;
  others?: Others;
  /** More headers for the event that is posted. */
  headers?: Readonly<Record<string, string>>;
  /** What the sender is answered once all is over; with an asynchronous Broker, at once. 202 where a row says nothing. */
  sender: 202 | 500;
  /** Of the Trigger's function; one where a row says nothing. */
  calls: number;
  /** At least so long between one call and the next. */
  pausesMs?: readonly number[];
  /** Less than that passes between one call and the next; far more than any machine dawdles. */
  pausesBelowMs?: number;
  /** Whether the caller hung up on each call. */
  hungUp?: boolean;
  /** Calls of the other functions. */
  calledToo?: Partial<Record<keyof Others, number>>;
  /** Methods of the requests to `target`. */
  methods?: readonly string[];
  /** The letter that the Trigger's or the Broker's dead letter sink gets. */
  letter?: Letter;
}

export type BrokerName = 'plain' | 'lettered' | 'async' | 'hasty';

export interface Letter {
  to: 'trigger' | 'broker';
  /** The extensions that say what went wrong, but for the destination; none after a timeout. */
  error?: { code: number; data: string };
  /** Who did not take the event; the Trigger's function if not said. */
  by?: 'function' | 'ingress';
}

/** What the Brokers of the contract say about delivery. */
export const brokers: Readonly<Record<BrokerName, { annotations?: Record<string, string>; delivery: object }>> = {
  plain: { delivery: { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' } },
  lettered: {
    delivery: {
      retry: 1,
      backoffPolicy: 'linear',
      backoffDelay: 'PT0.1S',
      deadLetterSink: { uri: '{broker letters}' },
    },
  },
  // A Trigger's timeout holds for the way to its filter, too: on a busy machine events that it does not want fail by it.
  hasty: { delivery: { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' } },
  async: {
    annotations: { 'messaging.knative.dev/async-handler': 'true' },
    delivery: { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S' },
  },
};

const exponential = [200, 400, 800];
const failing = [{ status: 500 }];
const refusing = [{ status: 422, body: 'no such thing' }];
const own = { deadLetterSink: { uri: '{letters}' } };
const base64 = (text: string) => Buffer.from(text).toString('base64');
const text = { 'content-type': 'text/plain' };
const json = { 'content-type': 'application/json' };

/** A case, without what most of them have in common. */
type Row = Omit<DeliveryCase, 'sender' | 'calls'> & Partial<DeliveryCase>;

const done: Row[] = [
  ...[200, 201, 202, 204].map((status) => ({
    what: `${status} with an empty body is the end of it`,
    answers: [{ status }],
  })),
  {
    what: '200 with a CloudEvent goes back to the Broker',
    answers: ['event'],
    others: { second: [{ status: 204 }] },
    calledToo: { second: 1 },
  },
  {
    what: '200 with a structured CloudEvent goes back to the Broker',
    answers: ['structured event'],
    others: { second: [{ status: 204 }] },
    calledToo: { second: 1 },
  },
];

const bodyTrap: Row[] = [
  { what: '200 with "OK"', answers: [{ status: 200, headers: text, body: 'OK' }] },
  { what: '200 with {"ok":true}', answers: [{ status: 200, headers: json, body: '{"ok":true}' }] },
  { what: '202 with a body that has no type', answers: [{ status: 202, body: 'accepted' }] },
].map((row) => ({ ...row, what: `${row.what} is a failure`, sender: 500, calls: 4, pausesMs: exponential }));

const final: Row[] = [400, 401, 403, 405, 410, 413, 422, 425, 451].map((status) => ({
  what: `${status} is not tried again, and the event is lost`,
  answers: [{ status }],
  sender: 500,
}));

const retried: Row[] = [404, 408, 409, 429, 500, 501, 502, 503, 504].map((status) => ({
  what: `${status} is tried again three times, then the event is lost`,
  answers: [{ status }],
  sender: 500,
  calls: 4,
  pausesMs: exponential,
}));

const connections: Row[] = [
  { what: 'a connection that is cut is tried again', answers: ['cut'], sender: 500, calls: 4, pausesMs: exponential },
  { what: 'a success after failures is a success', answers: [...failing, 'cut', { status: 204 }], calls: 3 },
  {
    what: 'Retry-After is ignored',
    answers: [
      { status: 429, headers: { 'retry-after': '60' } },
      { status: 429, headers: { 'retry-after': '60' } },
      { status: 204 },
    ],
    calls: 3,
    pausesMs: [200, 400],
    pausesBelowMs: 60_000,
  },
];

const redirects: Row[] = [
  { what: 'a 302 is followed with GET', redirect: 302 as const, methods: ['GET'], target: 204 },
  { what: 'a 307 is followed with POST', redirect: 307 as const, methods: ['POST'], target: 204 },
  {
    what: 'the answer behind a 307 counts',
    redirect: 307 as const,
    methods: ['POST'],
    target: 422,
    sender: 500 as const,
  },
].map(({ redirect, target, ...row }) => ({
  ...row,
  answers: [{ redirect }],
  others: { target: [{ status: target }] },
  calledToo: { target: 1 },
}));

const backoff: Row[] = [
  {
    what: 'linear backoff begins with no pause at all',
    answers: failing,
    delivery: { retry: 1, backoffPolicy: 'linear', backoffDelay: 'PT20S' },
    sender: 500,
    calls: 2,
    pausesBelowMs: 20_000,
  },
  {
    what: 'linear backoff goes on with the delay, then twice the delay',
    answers: failing,
    delivery: { retry: 3, backoffPolicy: 'linear', backoffDelay: 'PT0.3S' },
    sender: 500,
    calls: 4,
    pausesMs: [0, 300, 600],
  },
  {
    what: 'exponential backoff doubles',
    answers: failing,
    delivery: { retry: 3, backoffPolicy: 'exponential', backoffDelay: 'PT0.3S' },
    sender: 500,
    calls: 4,
    pausesMs: [300, 600, 1200],
  },
  { what: 'retry without a policy tries again', answers: failing, delivery: { retry: 3 }, sender: 500, calls: 4 },
  {
    what: 'a delivery of the Trigger without retry means one attempt, whatever the Broker says',
    answers: failing,
    delivery: { timeout: 'PT5S' },
    sender: 500,
  },
  {
    what: 'the timeout is that of each attempt, and the caller hangs up',
    broker: 'hasty',
    answers: ['never'],
    delivery: { retry: 2, backoffPolicy: 'exponential', backoffDelay: 'PT0.2S', timeout: 'PT1S' },
    sender: 500,
    calls: 3,
    pausesMs: [600, 800],
    hungUp: true,
  },
  {
    what: 'an answer within the timeout counts, however slow',
    answers: [{ status: 204, afterMs: 500 }],
    delivery: { retry: 0, timeout: 'PT5S' },
  },
];

const letters: Row[] = [
  {
    what: 'a dead letter sink gets what was refused, and the sender hears 202',
    answers: refusing,
    delivery: own,
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger', error: { code: 422, data: base64('no such thing') } },
  },
  {
    what: 'a dead letter of an empty answer has empty data',
    answers: failing,
    delivery: { ...own, retry: 1 },
    others: { letters: [{ status: 204 }] },
    calls: 2,
    letter: { to: 'trigger', error: { code: 500, data: '' } },
  },
  {
    // One byte more, and the dispatcher of Knative 1.20 crashes with all it holds; do not ask it.
    what: 'the data of a dead letter takes an answer of 768 bytes',
    answers: [{ status: 400, body: 'x'.repeat(768) }],
    delivery: own,
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger', error: { code: 400, data: base64('x'.repeat(768)) } },
  },
  {
    what: 'a dead letter of the body trap says nothing of the reason',
    answers: [{ status: 200, headers: text, body: 'OK' }],
    delivery: own,
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger' },
  },
  {
    what: 'a dead letter after a timeout says nothing of the reason',
    broker: 'hasty',
    answers: ['never'],
    delivery: { ...own, timeout: 'PT1S' },
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger' },
  },
  {
    what: 'a dead letter after a refused connection tells of it as of a 500',
    delivery: own,
    others: { letters: [{ status: 204 }] },
    calls: 0,
    letter: { to: 'trigger', error: { code: 500, data: 'dispatch error' } },
  },
  {
    what: 'a dead letter sink is tried as often as the subscriber',
    answers: failing,
    delivery: { ...own, retry: 2 },
    others: { letters: [{ status: 503 }] },
    sender: 500,
    calls: 3,
    calledToo: { letters: 3 },
  },
  {
    what: 'a dead letter sink by reference and path is that path of the Service',
    answers: refusing,
    delivery: {
      deadLetterSink: { ref: { apiVersion: 'v1', kind: 'Service', name: 'functions' }, uri: '{letters path}' },
    },
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger', error: { code: 422, data: base64('no such thing') } },
  },
  {
    what: "the Broker's delivery holds for a Trigger without one",
    broker: 'lettered',
    answers: failing,
    calls: 2,
    letter: { to: 'broker', error: { code: 500, data: '' } },
  },
  {
    what: "a Trigger's retries leave the Broker's dead letter sink in force",
    broker: 'lettered',
    answers: failing,
    delivery: { retry: 2 },
    calls: 3,
    letter: { to: 'broker', error: { code: 500, data: '' } },
  },
  {
    what: "a Trigger's dead letter sink alone leaves no retries of the Broker's",
    broker: 'lettered',
    answers: failing,
    delivery: own,
    others: { letters: [{ status: 204 }] },
    letter: { to: 'trigger', error: { code: 500, data: '' } },
  },
];

const replies: Row[] = [
  {
    what: 'a reply that nobody takes is sent again, each time with all retries of the next',
    answers: ['event'],
    others: { second: failing },
    sender: 500,
    calledToo: { second: 16 },
  },
  {
    what: 'a healthy function gets a reply four times when its neighbour fails',
    answers: ['event'],
    others: { second: refusing, third: [{ status: 204 }] },
    sender: 500,
    calledToo: { second: 4, third: 4 },
  },
  {
    what: 'the dead letter of a failed reply is the event itself',
    answers: ['event'],
    others: { second: refusing, letters: [{ status: 204 }] },
    delivery: own,
    calledToo: { second: 1 },
    letter: { to: 'trigger', by: 'ingress', error: { code: 500, data: '' } },
  },
  {
    what: 'a reply with no time to live left is refused',
    answers: ['event'],
    others: { second: [{ status: 204 }] },
    headers: { 'ce-knativebrokerttl': '2' },
    sender: 500,
    calledToo: { second: 0 },
  },
];

const asynchronous: Row[] = [
  {
    what: 'with async-handler the sender hears 202 before any function answers',
    broker: 'async',
    answers: ['never'],
    delivery: { retry: 0 },
  },
  {
    what: 'with async-handler the sender hears 202, and the event is retried all the same',
    broker: 'async',
    answers: failing,
    calls: 4,
    pausesMs: exponential,
  },
];

/** Every row of what Knative's filter and channel make of functions' answers, and the rules of `delivery`. */
export const deliveryCases: readonly DeliveryCase[] = [
  ...done,
  ...bodyTrap,
  ...final,
  ...retried,
  ...connections,
  ...redirects,
  ...backoff,
  ...letters,
  ...replies,
  ...asynchronous,
].map((row) => ({ sender: 202, calls: 1, ...row }));
