import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Who may do in one namespace what a role says. */
export const RoleBinding = defineResource(
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding', plural: 'rolebindings' },
  { roleRef: z.looseObject({}).optional(), subjects: z.array(z.looseObject({})).optional() },
);
export type RoleBinding = ObjectOf<typeof RoleBinding>;
