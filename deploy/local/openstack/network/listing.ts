import type { Cloud } from '../cloud.ts';
import { pageOf } from '../paging.ts';
import { Refusal } from '../refusal.ts';
import { type Asked, ok } from '../route.ts';

/** A thing as Neutron shows it. */
export type Shown = Record<string, unknown> & { id: string; tags: string[] };

/** Queries that are no attribute to compare with. */
const reserved = new Set(['limit', 'marker', 'fields', 'sort_key', 'sort_dir', 'page_reverse']);

/** The answer to a list, filtered by whatever attributes the query names, and paged. */
export function listed(cloud: Cloud, name: string, all: readonly Shown[], { query, path }: Asked) {
  const fitting = sorted(
    all.filter((item) => fits(item, query)),
    query,
  );
  const marker = query.get('marker');
  if (marker !== null && !all.some(({ id }) => id === marker))
    throw new Refusal(404, `${kindOf(name)} ${marker} could not be found.`, `${kindOf(name)}NotFound`);
  const { items, next } = pageOf(fitting, query, ({ id }) => id, { most: Number.MAX_SAFE_INTEGER });
  const fields = query.getAll('fields');
  const linkTo = (rel: string, search: string) => ({ rel, href: `${cloud.url}/network${path}?${search}` });
  const links = [
    ...(next === undefined ? [] : [linkTo('next', next)]),
    ...(query.has('limit') && items[0] ? [linkTo('previous', previousQuery(query, items[0].id))] : []),
  ];
  return ok({ [name]: items.map((item) => only(item, fields)), ...(links.length > 0 && { [`${name}_links`]: links }) });
}

function previousQuery(query: URLSearchParams, marker: string) {
  const previous = new URLSearchParams(query);
  previous.set('marker', marker);
  previous.set('page_reverse', 'True');
  return String(previous);
}

const kindOf = (plural: string) => plural.charAt(0).toUpperCase() + plural.slice(1, -1);

/** Those fields of it, or all where none is named. */
export const only = (item: Shown, fields: readonly string[]) =>
  fields.length === 0 ? item : Object.fromEntries(Object.entries(item).filter(([name]) => fields.includes(name)));

function fits(item: Shown, query: URLSearchParams): boolean {
  const attributes = [...new Set(query.keys())].filter((name) => !reserved.has(name));
  return attributes.every((name) => isAmong(item, name, query.getAll(name)));
}

function isAmong(item: Shown, name: string, values: readonly string[]): boolean {
  if (name === 'fixed_ips') {
    const ips = item.fixed_ips as Record<string, string>[];
    return values.every((each) => {
      const [key = '', value] = each.split('=');
      return ips.some((ip) => ip[key] === value);
    });
  }
  // Neutron ignores what it does not know.
  if (!(name in item)) return true;
  return values.some((value) => String(item[name]).toLowerCase() === value.toLowerCase());
}

/** Neutron orders by id by default. */
function sorted(items: readonly Shown[], query: URLSearchParams) {
  const key = query.get('sort_key') ?? 'id';
  const sign = query.get('sort_dir') === 'desc' ? -1 : 1;
  return items.toSorted((a, b) =>
    String(a[key]) < String(b[key]) ? -sign : Number(String(a[key]) > String(b[key])) * sign,
  );
}
