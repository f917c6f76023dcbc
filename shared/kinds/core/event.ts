import { defineResource } from '../resource.ts';

/** Kubernetes' own Event: what `kubectl describe` and `kubectl events` show about an object. */
export const Event = defineResource({ apiVersion: 'v1', kind: 'Event', plural: 'events' }, {});
