import * as z from 'zod';
import { defineResource } from '../resource.ts';

/** Which driver makes the volumes of a claim. */
export const StorageClass = defineResource(
  { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', plural: 'storageclasses', namespaced: false },
  { provisioner: z.string().default('') },
);
