import { mostDays } from '../../shared/images/egress.ts';
import { UsageError } from '../terminal/arguments.ts';
import { type Body, exit } from './command.ts';
import { type CostView, costLines, costOf } from './cost-view.ts';
import { readQueue } from './queue.ts';

const ways = ['namespace', 'image', 'requester'] as const satisfies readonly CostView['by'][];

/** What downloads cost, and what the budget leaves. */
export const cost: Body = {
  words: '',
  options: {
    by: { type: 'string', value: 'WHAT', about: 'namespace (the default), image or requester', values: ways },
    since: { type: 'string', value: 'DAYS', about: `1d to ${mostDays}d (the default; of images since each was made)` },
  },
  details: [
    'An attempt counts with the size of its source as inspected, or that of the disk. The policy key egressPricePerGiB adds a',
    'price, egressBudget a limit: once it is spent, nothing starts. A requester is the Workspace or the VirtualMachine that an image',
    'was first made for, a publication, or "direct" for an image that someone created itself, as with kubectl. Up to 50 images and',
    'requesters of the last day are kept by name, deleted images among them, and of each earlier day the ten of these with the',
    'most bytes; "others" is the rest.',
  ],
  examples: ['cost', 'cost --since 7d', 'cost --by image', 'cost --by requester --since 30d', 'cost -o json'],
  run: async ({ cluster, text, nowMs, look }) => {
    const asked = text('by') ?? 'namespace';
    const by = ways.find((way) => way === asked);
    if (!by) throw new UsageError(`expected --by ${ways.join(', ')}, found ${asked}`);
    const since = text('since');
    const days = since === undefined ? mostDays : Number(/^(\d{1,2})d$/.exec(since)?.[1] ?? Number.NaN);
    if (!(days >= 1 && days <= mostDays)) throw new UsageError(`expected --since 1d to ${mostDays}d, found ${since}`);
    const isSinceMade = by === 'image' && since === undefined;
    const view = costOf(await readQueue((await cluster()).kube), { by, days: isSinceMade ? null : days, nowMs });
    return { lines: costLines(view, look), json: view, code: exit.done };
  },
};
