import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';
import { ForeignCondition } from '../schema.ts';

/** The name of a preference or an instancetype, and which copy of it counts. */
const Matcher = z.looseObject({ name: z.string().optional() });

/** KubeVirt's VirtualMachine: what is to run; `printableStatus` is its state in one word, and every one of them can heal. */
export const KubeVirtMachine = defineResource(
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', plural: 'virtualmachines' },
  {
    spec: z
      .looseObject({
        runStrategy: z.string().optional(),
        preference: Matcher.optional(),
        instancetype: Matcher.optional(),
        template: z.looseObject({}).optional(),
      })
      .optional(),
    status: z
      .looseObject({
        created: z.boolean().optional(),
        ready: z.boolean().optional(),
        printableStatus: z.string().default(''),
        conditions: z.array(ForeignCondition).default([]),
        startFailure: z.looseObject({ consecutiveFailCount: z.number().default(0) }).optional(),
      })
      .optional(),
  },
);
export type KubeVirtMachine = ObjectOf<typeof KubeVirtMachine>;
