import { distinct } from '../../distinct.ts';
import type { Batch } from '../../function.ts';
import { mapConcurrently } from '../concurrency.ts';

/** Of more things of a project the whole list costs less. */
const mostAskedFor = 32;

/** Servers refuse a longer line of a request, the shortest limit being 4 kB; users' names have up to 255 characters. */
const longestQuery = 3000;

/** The limit of requests about single things that are under way. */
export const requestsAtOnce = 8;

/** Lists of a project, as narrow as the reason to look at it. */
export interface NarrowLists {
  /** The whole project is looked at. */
  isWhole: boolean;
  /** What `list` gives for these uids or names together; for the whole project if it is given none. */
  some<T>(asked: readonly string[], list: (asked?: readonly string[]) => Promise<T[]>): Promise<T[]>;
  /** The same of a service that finds one thing at a time. */
  each<By, T>(asked: readonly By[], list: (by?: By) => Promise<T[]>): Promise<T[]>;
}

/**
 * An event asks only for what it is about, whatever else the project has; a sweep and an audit look at all of it, and one list of
 * that is one request.
 */
export function narrowLists({ sweep, audited }: Pick<Batch, 'sweep' | 'audited'>): NarrowLists {
  const isWhole = sweep || audited !== undefined;
  return {
    isWhole,
    async some(asked, list) {
      const unique = [...new Set(asked)];
      if (unique.length === 0) return [];
      const isLong = encodeURIComponent(unique.join()).length > longestQuery;
      return isWhole || isLong || unique.length > mostAskedFor ? list() : list(unique);
    },
    async each(asked, list) {
      const unique = distinct(asked, (by) => JSON.stringify(by));
      if (unique.length === 0) return [];
      if (isWhole || unique.length > mostAskedFor) return list();
      return (await mapConcurrently(unique, requestsAtOnce, list)).flat();
    },
  };
}
