import type * as z from 'zod';
import { Refusal } from './refusal.ts';

/** What a request of several kinds is, as its body names it. */
export const firstKeyOf = (body: unknown) => Object.keys((body ?? {}) as object)[0] ?? '';

export const valueAt = (body: unknown, path: readonly PropertyKey[]) =>
  path.reduce<unknown>((part, key) => (part as Record<PropertyKey, unknown> | null | undefined)?.[key], body);

/** The body as the schema has it; refuses with 400 what does not fit, roughly as Nova's JSON schemas word it. */
export function bodyAs<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const path = issue?.path ?? [];
  const field = path.slice(1).map(String).join('/') || String(path[0] ?? '');
  throw new Refusal(
    400,
    `Invalid input for field/attribute ${field}. Value: ${JSON.stringify(valueAt(body, path))}. ${issue?.message ?? ''}`,
    'HTTPBadRequest',
  );
}
