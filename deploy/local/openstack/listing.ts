/** Whether what a query asks of a field, if anything, is this. */
export const isAsked = (query: URLSearchParams, name: string, value: string) =>
  !query.has(name) || query.get(name) === value;

/** Whether a list is to have the objects of all projects, in oslo's words for yes. */
export const asksForAll = (query: URLSearchParams) => /^(1|true|yes|on|t|y)$/i.test(query.get('all_tenants') ?? '');

/** Whether tags are as `tags`, `tags-any`, `not-tags` and `not-tags-any` of a query ask. */
export function hasAskedTags(tags: readonly string[], query: URLSearchParams): boolean {
  const asked = (name: string) => query.get(name)?.split(',') ?? [];
  const has = (tag: string) => tags.includes(tag);
  return (
    asked('tags').every(has) &&
    (!query.has('tags-any') || asked('tags-any').some(has)) &&
    !(query.has('not-tags') && asked('not-tags').every(has)) &&
    !asked('not-tags-any').some(has)
  );
}
