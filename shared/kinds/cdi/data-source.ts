import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** CDI's DataSource: the name under which KubeVirt's machines, virtctl and user interfaces find what to clone a disk from. */
export const DataSource = defineResource(
  { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataSource', plural: 'datasources' },
  {
    spec: z
      .looseObject({
        source: z.looseObject({ snapshot: z.looseObject({ namespace: z.string(), name: z.string() }).optional() }),
      })
      .optional(),
  },
);
export type DataSource = ObjectOf<typeof DataSource>;
