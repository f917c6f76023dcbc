import { beforeEach, expect, test } from 'vitest';
import { type Batch, type FunctionDeclaration, noEvents, type Subject } from '../function.ts';
import { policyName } from '../policy.ts';
import { coalesced } from './coalesce.ts';
import type { Kube } from './kube.ts';
import { pagedAudits } from './paged-audits.ts';
import { verdictOf } from './verdict.ts';

const subject = (name: string): Subject => ({ apiVersion: 'v1', kind: 'Thing', namespace: 'lab', name });
const timer: Batch = { ...noEvents, audit: true };
const event: Batch = { ...noEvents, subjects: [subject('event')] };
const edit: Batch = { ...noEvents, subjects: [{ ...subject(policyName), kind: 'ConfigMap' }] };

/** What each reconcile was about, in the order of their begin, and whether it was an audit's. */
let reconciled: string[];
let timers: boolean[];
let republished: number;
let walks: number;
/** Called with what a reconcile is about. */
let during: (about: string) => Promise<void>;
beforeEach(() => {
  [reconciled, timers, republished, walks] = [[], [], 0, 0];
  during = async () => undefined;
});

const declaration = {
  name: 'walks',
  async *audit() {
    walks++;
    for (const page of [['a', 'b'], [], ['c'], ['d']]) yield page.map(subject);
  },
} as unknown as FunctionDeclaration;

const enqueue = (of = declaration, policyVersion?: string) => {
  const run = async ({ subjects, audited = [], audit }: Batch) => {
    const about = [...subjects, ...audited].map(({ name }) => name).join('+');
    reconciled.push(about);
    timers.push(audit);
    await during(about);
    return verdictOf([]);
  };
  const republish = async () => void republished++;
  const background = { waitUntil: () => undefined, drain: async () => undefined };
  let edits = 0;
  const policy = () => ({ metadata: { resourceVersion: policyVersion ?? String(++edits) } });
  const kube = { get: async () => policy() } as unknown as Kube;
  const ports = { kube, now: () => 0 };
  return pagedAudits({ declaration: of, ports, republish, background }, coalesced(run));
};

test('an audit is one reconcile a page, and none for a page with nothing on it', async () => {
  await enqueue()(timer);
  expect(reconciled).toEqual(['a+b', 'c', 'd']);
  expect(republished).toBe(1);
});

test('an event that comes during an audit waits for the page at hand, not for the whole audit', async () => {
  const take = enqueue();
  let served: Promise<void> | undefined;
  during = async (about) => {
    if (about === 'a+b') served = take(event).then(() => void reconciled.push('answered'));
  };
  await take(timer);
  await served;
  expect(reconciled.slice(0, 2)).toEqual(['a+b', expect.stringContaining('event')]);
  expect(reconciled.indexOf('answered')).toBeLessThan(reconciled.indexOf('d'));
});

test('an audit that is asked for while another runs shares its result', async () => {
  const take = enqueue();
  await Promise.all([take(timer), take(timer)]);
  expect(walks).toBe(1);
  await take(timer);
  expect(walks).toBe(2);
});

test('an edit of the policy is an event like any other, and has everything walked by a walk that begins after it, which is no timer', async () => {
  const take = enqueue();
  const audit = take(timer);
  await Promise.all([take(edit), take(edit)]);
  await audit;
  expect(walks).toBe(2);
  expect(reconciled).toContain(policyName);
  expect(timers.filter((isTimer) => isTimer)).toHaveLength(3);
  expect(reconciled.slice(-3)).toEqual(['a+b', 'c', 'd']);
  expect(timers.slice(-3)).toEqual([false, false, false]);
});

test('an event of the policy that comes again during its walk has nothing walked again', async () => {
  const take = enqueue(declaration, '7');
  const again: Promise<void>[] = [];
  during = async (about) => {
    if (about === 'c') again.push(take(edit));
  };
  await take(edit);
  await Promise.all(again);
  expect(walks).toBe(1);
});

test('an audit that is asked for during the walk after an edit follows it, for that one counts as no timer', async () => {
  const take = enqueue();
  let audit: Promise<void> | undefined;
  during = async (about) => {
    if (about === 'c') audit ??= take(timer);
  };
  await take(edit);
  await audit;
  expect(walks).toBe(2);
  expect(timers.filter((isTimer) => isTimer)).toHaveLength(3);
});

test('a page that fails fails the audit when all others are done', async () => {
  during = async (about) => {
    if (about === 'a+b') throw new Error('refused');
  };
  await expect(enqueue()(timer)).rejects.toThrow('refused');
  expect(reconciled).toEqual(['a+b', 'c', 'd']);
});

test('totals of all pages end an audit by one more reconcile, and no walk after an edit', async () => {
  async function* audit() {
    yield [subject('a')];
    return { count: 3 };
  }
  const take = enqueue({ ...declaration, audit });
  await take(timer);
  expect([reconciled, timers]).toEqual([
    ['a', ''],
    [true, true],
  ]);
  await take(edit);
  expect(reconciled.slice(2)).toEqual([policyName, 'a']);
});

test('an audit of a function without pages is one reconcile', async () => {
  await enqueue({ name: 'whole' } as unknown as FunctionDeclaration)(timer);
  expect(reconciled).toEqual(['']);
});
