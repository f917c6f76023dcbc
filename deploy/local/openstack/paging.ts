import { Refusal } from './refusal.ts';

/** A part of a list. */
interface Page<T> {
  items: T[];
  /** Query of the next page; undefined at the end. */
  next: string | undefined;
}

/** The part of a list that `limit` and `marker` ask for; throws a Refusal where no such marker is in it. */
export function pageOf<T>(
  items: readonly T[],
  query: URLSearchParams,
  idOf: (item: T) => string,
  { most = 1000, noMarker = badMarker } = {},
): Page<T> {
  const limit = limitIn(query, most);
  const marker = query.get('marker');
  const from = marker === null ? 0 : items.findIndex((item) => idOf(item) === marker) + 1;
  if (marker !== null && from === 0) throw noMarker(marker);
  const page = items.slice(from, from + limit);
  const last = page.at(-1);
  // Nova, Cinder and Neutron offer another page whenever this one is full.
  const isFull = query.has('limit') && limit > 0 && page.length === limit && last !== undefined;
  return { items: page, next: isFull ? nextQuery(query, idOf(last)) : undefined };
}

const badMarker = (marker: string) => new Refusal(400, `marker [${marker}] not found`);

function limitIn(query: URLSearchParams, most: number) {
  const text = query.get('limit');
  if (text === null) return most;
  if (!/^\d+$/.test(text))
    throw new Refusal(
      400,
      `Invalid input for query parameters limit. Value: ${text}. '${text}' does not match '^[0-9]*$'`,
    );
  const limit = Number(text);
  return limit === 0 ? most : Math.min(limit, most);
}

function nextQuery(query: URLSearchParams, marker: string) {
  const next = new URLSearchParams(query);
  next.set('marker', marker);
  return String(next);
}
