import type { Event } from './event.ts';
import type { Filter, Trigger } from './resources.ts';

/** True where the Trigger wants the event; `filters` overrides `filter`, no filter at all wants everything. */
export function matches(spec: Trigger['spec'], event: Event): boolean {
  if (spec.filters && spec.filters.length > 0) return sound(spec.filters).every((filter) => passes(filter, event));
  return Object.entries(spec.filter?.attributes ?? {}).every(([name, wanted]) => {
    const value = attribute(event, name);
    return wanted === '' ? Boolean(value) : value === wanted;
  });
}

/** What keeps a Trigger's filters from being understood here, or undefined. */
export function refusedFilter(filters: readonly Filter[] = []): string | undefined {
  for (const filter of filters) {
    if (filter.cesql !== undefined) {
      return 'filters: cesql is not supported by the local cluster; write it with exact, prefix, suffix, all, any, not';
    }
    const nested = refusedFilter([...(filter.all ?? []), ...(filter.any ?? []), ...(filter.not ? [filter.not] : [])]);
    if (nested) return nested;
  }
  return undefined;
}

function passes(filter: Filter, event: Event): boolean {
  const each = (wanted: Readonly<Record<string, string>>, test: (value: string, wanted: string) => boolean) =>
    Object.entries(wanted).every(([name, text]) => {
      const value = attribute(event, name);
      return value !== undefined && test(value, text);
    });
  if (filter.exact) return each(filter.exact, (value, wanted) => value === wanted);
  if (filter.prefix) return each(filter.prefix, (value, wanted) => value.startsWith(wanted));
  if (filter.suffix) return each(filter.suffix, (value, wanted) => value.endsWith(wanted));
  if (filter.all) return sound(filter.all).every((one) => passes(one, event));
  if (filter.any) {
    const wanted = sound(filter.any);
    return wanted.length === 0 || wanted.some((one) => passes(one, event));
  }
  return filter.not ? !passes(filter.not, event) : true;
}

/** Knative leaves out a filter with an empty value; a list of nothing else lets everything through. */
const sound = (filters: readonly Filter[]) =>
  filters.filter(({ exact, prefix, suffix }) => !Object.values(exact ?? prefix ?? suffix ?? {}).includes(''));

const attribute = (event: Event, name: string) =>
  name === 'datacontenttype' ? event.contentType : event.attributes[name];
