import type { Invariant } from './follow.ts';
import type { Asked, Pass } from './history.ts';
import { operatorNamespace, policyName } from './plain-rules.ts';
import { slotsOf } from './slots-of.ts';
import { type FunctionName, isFunction } from './writers.ts';

/** Requests of a process that the API server has at once, and writes that it has begun. */
const mostAtOnce = 32;

/** What a pass of any size reads: the policy, the Lease, and what is listed for all objects together. */
const getsOfAny = 4;
const listsOfAny = 30;
/** A list by uids has a hundred of them in its URL. */
const objectsPerRow = 100;
const listsPerRow = 5;

/** One object is read again where its creation met another of its name. */
const readsOfOne = 3;

/** How much a pass may ask for each object that its events name, and for each that its lists find; `writes` to one object. */
interface Limits {
  named: number;
  found: number;
  lists: number;
  writes: number;
}

const limits: Record<Exclude<FunctionName, 'dead-letters'>, Limits> = {
  preload: { named: 1, found: 0, lists: 0, writes: 1 },
  // A machine, its image, the namespace of that.
  'ensure-vmdi': { named: 3, found: 2, lists: 0, writes: 1 },
  // Into the queue, out of it, and the finalizer.
  'start-sync': { named: 1, found: 0, lists: 0, writes: 3 },
  // An image and the snapshot that it names.
  'follow-sync': { named: 2, found: 1, lists: 0, writes: 1 },
  // A machine, its image, three children, its Secrets.
  'provision-vm': { named: 7, found: 7, lists: 0, writes: 1 },
  // Its namespace has a list of each kind; of an image, each place where it may be.
  'compose-workspace': { named: 9, found: 9, lists: 12, writes: 2 },
  // A machine and its image; the images of a workspace.
  'count-refs': { named: 3, found: 0, lists: 0, writes: 1 },
  // An image, the namespace of it; the finalizer and what is written down before it goes.
  prune: { named: 2, found: 1, lists: 0, writes: 2 },
};

/**
 * B1, bounded: what a pass asks of the API server stays within limits that are the same for ten objects and for ten thousand. At
 * most 32 requests of a process are in flight, and 32 writes begun; an event costs reads of what it names and of what a selective
 * list finds for it, never one for each object there is; only a timer, or another policy, has all objects of a kind read for; no
 * list is made twice, and no list for each object, pages aside; and each object is written once, or as often as the table says.
 *
 * Judged where a history has passes: in the simulation. There requests wait for each other as kubeClient has them wait, with the
 * client's own limit; that the client does so is shown by shared/runtime/kube.test.ts. Not seen: bytes and memory (objects are
 * counted, not measured), how many objects a pass writes in all, Events, what a process reads beside its passes to publish facts
 * again (only in flight does that count), and what is asked of OpenStack.
 */
export const b1Bounded: Invariant = {
  number: 'B1',
  says: 'a pass asks for no more than its limits, at any size',
  judge: (state, { passes = [] }) => {
    let mostHolders = state.slots?.size ?? 0;
    return {
      lease: ({ object }) => {
        mostHolders = Math.max(mostHolders, slotsOf(object)?.size ?? 0);
        return undefined;
      },
      end: () => passes.flatMap((pass) => excessesOf(pass, mostHolders)),
    };
  },
};

/** Each limit that the pass exceeds, in words. */
function excessesOf(pass: Pass, holders: number): string[] {
  if (!isFunction(pass.by) || pass.by === 'dead-letters') return [];
  const own = limits[pass.by];
  const asked = pass.asked.filter(({ kind }) => kind !== 'Event');
  const gets = asked.filter(({ verb }) => verb === 'get');
  const pages = asked.filter(({ verb }) => verb === 'list');
  const lists = pages.filter(({ page }) => page === 0);
  const writes = asked.filter(({ verb }) => verb !== 'get' && verb !== 'list');
  const named = pass.about.length + holders;
  const found = sum(
    pages.filter((page) => page.selector !== undefined || isAboutAll(pass)).map((page) => page.objects),
  );
  const rows = Math.ceil((named + found) / objectsPerRow);
  const getsAllowed = getsOfAny + own.named * named + own.found * found;
  const listsAllowed = listsOfAny + listsPerRow * rows + own.lists * (named + found);
  const [writtenMost, readMost, listedMost] = [mostOf(writes), mostOf(gets), mostOf(lists)];
  const excesses = [
    over(pass.mostInFlight, mostAtOnce, 'requests were in flight at once'),
    over(pass.mostWritesBegun, mostAtOnce, 'writes were begun at once'),
    over(gets.length, getsAllowed, `objects were read one by one for ${named} named and ${found} found`),
    over(lists.length, listsAllowed, `lists were made for ${named} named and ${found} found`),
    over(writtenMost.times, own.writes, `writes to ${writtenMost.what}`),
    over(readMost.times, readsOfOne, `reads of ${readMost.what}`),
    over(listedMost.times, 1, `lists of ${listedMost.what}`),
  ];
  return excesses
    .flatMap((excess) => excess ?? [])
    .map((excess) => `${pass.by}, pass at revision ${pass.since}: ${excess}`);
}

/** A timer names nothing; and by another policy every object may be another's turn. */
const isAboutAll = ({ isTimed, about }: Pass) =>
  isTimed || about.includes(`ConfigMap ${operatorNamespace}/${policyName}`);

const over = (found: number, limit: number, what: string) =>
  found > limit ? `${found} ${what}, ${limit} allowed` : undefined;

const sum = (numbers: readonly number[]) => numbers.reduce((all, one) => all + one, 0);

/** What is asked for most often. */
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
