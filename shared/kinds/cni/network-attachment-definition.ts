import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** Multus' NetworkAttachmentDefinition: a network that Pods and machines can be put on; `config` is JSON for its CNI plugin. */
export const NetworkAttachmentDefinition = defineResource(
  {
    apiVersion: 'k8s.cni.cncf.io/v1',
    kind: 'NetworkAttachmentDefinition',
    plural: 'network-attachment-definitions',
  },
  { spec: z.looseObject({ config: z.string().optional() }).optional() },
);
export type NetworkAttachmentDefinition = ObjectOf<typeof NetworkAttachmentDefinition>;
