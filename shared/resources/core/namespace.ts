import { defineResource, type ObjectOf } from '../resource.ts';

/** Where objects live; of it only whether it is there and stays. */
export const Namespace = defineResource(
  { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false },
  {},
);
export type Namespace = ObjectOf<typeof Namespace>;
