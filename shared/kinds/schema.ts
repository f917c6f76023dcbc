import * as z from 'zod';

/** A condition in a status that others write, as far as functions read it. */
export const ForeignCondition = z.looseObject({
  type: z.string(),
  status: z.string(),
  reason: z.string().default(''),
  message: z.string().default(''),
  lastTransitionTime: z.string().nullish(),
});
export type ForeignCondition = z.infer<typeof ForeignCondition>;

/** The schema of a moment. */
export const time = (description: string) => z.string().meta({ format: 'date-time', description });

/** The schema of a count. */
export const int = (description: string) =>
  z.number().meta({ type: 'integer', format: 'int64', minimum: 0, description });

/** The schema of a text of at most this many characters. */
export const text = (most: number, description: string) => z.string().max(most).describe(description);

/** The same of one that is not empty. */
export const filledText = (most: number, description: string) => z.string().min(1).max(most).describe(description);

/** The rules of a schema in CEL, each with the message of what breaks it, for its `meta`. */
export const celRules = (...rules: (readonly [rule: string, message: string])[]) => ({
  'x-kubernetes-validations': rules.map(([rule, message]) => ({ rule, message })),
});
export const cel = (rule: string, message: string) => celRules([rule, message]);

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

/** A condition in a status of ours (Kubernetes API conventions). */
export const Condition = z.object({
  type: z.string().max(316),
  status: z.enum(['True', 'False', 'Unknown']),
  reason: z.string().max(1024),
  message: z.string().max(32768),
  observedGeneration: int('The generation this was seen at.').optional(),
  lastTransitionTime: time('When status last changed.'),
});
export type Condition = z.infer<typeof Condition>;

/** Conditions as `kubectl wait` reads them. */
export const conditions = (description: string) =>
  z
    .array(Condition)
    .optional()
    .describe(description)
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] });
