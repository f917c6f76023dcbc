import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** KubeVirt's VirtualMachineInstance: what does run, of the same name as its machine; it has no status subresource. */
export const KubeVirtInstance = defineResource(
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', plural: 'virtualmachineinstances' },
  {
    spec: z.looseObject({ readinessProbe: z.looseObject({}).optional() }).optional(),
    status: z
      .looseObject({
        phase: z.string().default(''),
        nodeName: z.string().optional(),
        interfaces: z
          .array(
            z.looseObject({
              name: z.string().optional(),
              ipAddress: z.string().optional(),
              mac: z.string().optional(),
            }),
          )
          .default([]),
        conditions: z.array(ForeignCondition).default([]),
        phaseTransitionTimestamps: z
          .array(z.looseObject({ phase: z.string().default(''), phaseTransitionTimestamp: z.string().optional() }))
          .default([]),
      })
      .optional(),
  },
);
export type KubeVirtInstance = ObjectOf<typeof KubeVirtInstance>;
