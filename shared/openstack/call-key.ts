import type { OpenStackRequest } from '../kinds/openstack/request.ts';

/** How a refused request to OpenStack is named among the refusals of a reconcile. */
export const callKey = (
  { metadata }: { metadata: { uid: string } },
  { operation, about = '' }: Pick<OpenStackRequest, 'operation' | 'about'>,
) => `${metadata.uid} ${operation} ${about}`;
