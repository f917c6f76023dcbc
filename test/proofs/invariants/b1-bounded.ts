import type { Invariant } from './follow.ts';
import type { Asked, Reconcile } from './history.ts';
import { operatorNamespace, policyName } from './plain-rules.ts';
import { slotsOf } from './slots-of.ts';
import { type FunctionName, isFunction } from './writers.ts';

/** The most requests that a process may have at the API server, and the most writes that it may have begun. */
const mostAtOnce = 32;

/** What a reconcile of any size reads: the policy, the Lease, and lists for all objects together. */
const getsOfAny = 4;
const listsOfAny = 30;
/** A list by uids has a hundred of them in its URL. */
const objectsPerRow = 100;
const listsPerRow = 5;

/** An object is read again if its creation conflicts with an object of the same name. */
const readsOfOne = 3;

/** The requests allowed for each object that the events name, and for each object that the lists find; `writes` per object. */
interface Limits {
  named: number;
  found: number;
  lists: number;
  writes: number;
}

const limits: Record<Exclude<FunctionName, 'dead-letters'>, Limits> = {
  preload: { named: 1, found: 0, lists: 0, writes: 1 },
  // A machine, its image, the image's namespace.
  'ensure-vmdi': { named: 3, found: 2, lists: 0, writes: 1 },
  // An image and its Secret.
  'inspect-source': { named: 2, found: 1, lists: 0, writes: 1 },
  // An image and its DataVolume; into the queue, out of it, and the finalizer.
  'start-sync': { named: 2, found: 0, lists: 0, writes: 3 },
  // An image and the snapshot that it names.
  'follow-sync': { named: 2, found: 1, lists: 0, writes: 1 },
  // A machine, its image, three children, its Secrets.
  'provision-vm': { named: 7, found: 7, lists: 0, writes: 1 },
  // A list of each kind in its namespace; each place where an image may be.
  'compose-workspace': { named: 9, found: 9, lists: 12, writes: 2 },
  // A machine and its image; the images of a workspace, and a list of the machines in its namespace.
  'count-refs': { named: 3, found: 0, lists: 1, writes: 1 },
  // An image, its namespace; the finalizer, and what is recorded before the deletion.
  prune: { named: 2, found: 1, lists: 0, writes: 2 },
};

/**
 * B1, bounded: the requests of a reconcile stay within limits that are the same for ten objects and for ten thousand. A process
 * has at most 32 requests in flight and 32 writes begun. A reconcile reads only what its events name and what a selective list
 * finds, unless a timer or a new policy causes it. It makes no list twice (pages aside) and none per object, and writes each
 * object once, or as often as `limits` allows.
 *
 * Judged only in the simulation, which records requests and queues them with the limit of kubeClient (shared/runtime/kube.test.ts
 * tests the client). Not covered: bytes and memory, the total number of writes, Events, what a process reads outside reconciles
 * to republish facts (counted only as in flight), and requests to OpenStack.
 */
export const b1Bounded: Invariant = {
  number: 'B1',
  rule: 'the requests of a reconcile stay within its limits, at any size',
  judge: (state, { reconciles = [] }) => {
    let mostHolders = state.slots?.size ?? 0;
    return {
      lease: ({ object }) => {
        mostHolders = Math.max(mostHolders, slotsOf(object)?.size ?? 0);
        return undefined;
      },
      end: () => reconciles.flatMap((reconcile) => excessesOf(reconcile, mostHolders)),
    };
  },
};

/** Each limit that the reconcile exceeds. */
function excessesOf(reconcile: Reconcile, holders: number): string[] {
  if (!isFunction(reconcile.by) || reconcile.by === 'dead-letters') return [];
  const own = limits[reconcile.by];
  const asked = reconcile.asked.filter(({ kind }) => kind !== 'Event');
  const gets = asked.filter(({ verb }) => verb === 'get');
  const pages = asked.filter(({ verb }) => verb === 'list');
  const lists = pages.filter(({ page }) => page === 0);
  const writes = asked.filter(({ verb }) => verb !== 'get' && verb !== 'list');
  // A slot may go from one image to another, or to the first of all.
  const named = reconcile.about.length + (reconcile.by === 'start-sync' ? 2 * Math.max(1, holders) : holders);
  const found = sum(
    pages.filter((page) => page.selector !== undefined || isAboutAll(reconcile)).map((page) => page.objects),
  );
  const rows = Math.ceil((named + found) / objectsPerRow);
  const getsAllowed = getsOfAny + own.named * named + own.found * found;
  const listsAllowed = listsOfAny + listsPerRow * rows + own.lists * (named + found);
  const [writtenMost, readMost, listedMost] = [mostOf(writes), mostOf(gets), mostOf(lists)];
  const excesses = [
    over(reconcile.mostInFlight, mostAtOnce, 'requests were in flight at once'),
    over(reconcile.mostWritesBegun, mostAtOnce, 'writes were begun at once'),
    over(gets.length, getsAllowed, `objects were read one by one for ${named} named and ${found} found`),
    over(lists.length, listsAllowed, `lists were made for ${named} named and ${found} found`),
    over(writtenMost.times, own.writes, `writes to ${writtenMost.what}`),
    over(readMost.times, readsOfOne, `reads of ${readMost.what}`),
    over(listedMost.times, 1, `lists of ${listedMost.what}`),
  ];
  return excesses
    .flatMap((excess) => excess ?? [])
    .map((excess) => `${reconcile.by}, reconcile at revision ${reconcile.since}: ${excess}`);
}

/** A timer names no object; a new policy may concern every object. */
const isAboutAll = ({ isTimed, about }: Reconcile) =>
  isTimed || about.includes(`ConfigMap ${operatorNamespace}/${policyName}`);

const over = (found: number, limit: number, what: string) =>
  found > limit ? `${found} ${what}, ${limit} allowed` : undefined;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** The object or list that is requested most often. */
function mostOf(asked: readonly Asked[]): { what: string; times: number } {
  const counts = new Map<string, number>();
  let most = { what: '', times: 0 };
  for (const { kind, of, selector = '' } of asked) {
    const what = [kind, of, selector].filter(Boolean).join(' ');
    const times = (counts.get(what) ?? 0) + 1;
    counts.set(what, times);
    if (times > most.times) most = { what, times };
  }
  return most;
}
