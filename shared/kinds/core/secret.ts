import * as z from 'zod';
import { defineResource, type ObjectOf } from '../resource.ts';

/** A Secret; what `data` holds is base64, and goes into no message, log or trace. */
export const Secret = defineResource(
  { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', holdsPasswords: true },
  { data: z.record(z.string(), z.string()).optional() },
);
export type Secret = ObjectOf<typeof Secret>;
