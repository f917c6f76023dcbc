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

/** The schema of a moment. */
export const time = (description: string) => z.string().meta({ format: 'date-time', description });

/** The schema of a count. */
export const int = (description: string) =>
  z.number().meta({ type: 'integer', format: 'int64', minimum: 0, description });

/** Of each of our kinds. It is -1, the default, until a function has looked: kstatus takes a new object for one that is under way. */
export const observedGeneration = z
  .number()
  .meta({
    type: 'integer',
    format: 'int64',
    minimum: -1,
    description: 'The generation of the spec that this status speaks of; -1 of an object that was not looked at yet.',
  })
  .optional();
