import { defineResource, type ObjectOf } from '../resource.ts';

/** What may be done; of ours only who may bind it. */
export const ClusterRole = defineResource(
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', plural: 'clusterroles', namespaced: false },
  {},
);
export type ClusterRole = ObjectOf<typeof ClusterRole>;
