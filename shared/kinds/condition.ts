import * as z from 'zod';

/** A condition in a status that others write, as far as functions read it. */
export const Condition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(''),
  message: z.string().default(''),
  lastTransitionTime: z.string().nullish(),
});
export type Condition = z.infer<typeof Condition>;
