import type * as z from 'zod';
import { Refusal } from './refusal.ts';

/** The body as the schema has it; refuses with 400 what does not fit, roughly as Nova's JSON schemas word it. */
export function bodyAs<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path ?? [];
  const value = path.reduce<unknown>(
    (part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key],
    body,
  );
  const field = path.slice(1).map(String).join('/') || String(path[0] ?? '');
  throw new Refusal(
    400,
    `Invalid input for field/attribute ${field}. Value: ${JSON.stringify(value)}. ${issue?.message ?? ''}`,
    'HTTPBadRequest',
  );
}
