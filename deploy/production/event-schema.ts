import * as z from 'zod';
import { schemaIdOf } from '../../shared/events.ts';

/** A JSON Schema as far as it is read here. */
interface JsonSchema {
  [key: string]: unknown;
  $id: string;
  title: string;
  description: string;
  properties: Record<string, { description: string }>;
}

export const eventSchema = (type: string, schema: z.ZodType, target: 'draft-2020-12' | 'draft-7' = 'draft-2020-12') =>
  ({ $id: schemaIdOf(type), title: type, ...z.toJSONSchema(schema, { io: 'input', target }) }) as unknown as JsonSchema;
