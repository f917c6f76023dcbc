import type { ObjectReference, Resource } from '../kinds/resource.ts';

/** How a refused object is named among the refusals of a pass: two namespaces may hold objects of one name. */
export const refusalKey = ({ kind }: Pick<Resource, 'kind'>, { namespace, name }: ObjectReference) =>
  `${kind} ${namespace ?? ''}/${name}`;
