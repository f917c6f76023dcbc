import { nameOf, type ObjectReference, type Resource } from '../kinds/resource.ts';

/** Why an object or a request was refused: a reason, and the message of the server that refused it. */
export interface Refusal {
  reason: string;
  message: string;
}

/** What was refused in the earlier tries of a reconcile: objects by `refusalKey`, requests to OpenStack by `callKey`. */
export type Refusals = ReadonlyMap<string, Refusal>;

/** How a refused object is named among the refusals of a reconcile: two namespaces may hold objects of one name, and several ask for one. */
export const refusalKey = (resource: Pick<Resource, 'kind'>, ref: ObjectReference, askedBy?: string) =>
  [nameOf(resource, ref), ...(askedBy === undefined ? [] : [askedBy])].join(' for ');

export const formatRefusal = ({ reason, message }: Refusal) => `${reason}: ${message}`;
