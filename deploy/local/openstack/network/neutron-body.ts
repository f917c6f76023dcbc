import type * as z from 'zod';
import { valueAt } from '../body.ts';
import { Refusal } from '../refusal.ts';
import { neutronRefusals } from './refusals.ts';

/** The body as the schema has it; refuses with 400 what does not fit, roughly as Neutron words it. */
export function neutronBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw issue ? refusalFor(issue, body) : new Refusal(400, '', 'HTTPBadRequest');
}

function refusalFor(issue: z.core.$ZodIssue, body: unknown): Refusal {
  const field = String(issue.path[1] ?? issue.path[0] ?? '');
  const value = valueAt(body, issue.path);
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    return bad(readOnly.has(key) ? `Cannot update read-only attribute ${key}` : `Unrecognized attribute(s) '${key}'`);
  }
  if (value === undefined) return bad(`Failed to parse request. Required attribute '${field}' not specified`);
  if (issue.code === 'invalid_type' && issue.expected in conversions)
    return neutronRefusals.invalid(`'${value}' ${conversions[issue.expected]}`);
  if (issue.code !== 'invalid_union') return bad(`Invalid input for ${field}. Reason: ${issue.message}.`);
  const why = typeof value === 'number' ? `${value} is not in valid_values` : `'${value}' is not a valid IP address`;
  return bad(`Invalid input for ${field}. Reason: ${why}.`);
}

const bad = (message: string) => new Refusal(400, message, 'HTTPBadRequest');

const conversions: Record<string, string> = {
  boolean: 'cannot be converted to boolean',
  number: 'is not an integer',
  int: 'is not an integer',
};

const readOnly = new Set([
  'id',
  'cidr',
  'ip_version',
  'network_id',
  'status',
  'mac_address',
  'project_id',
  'tenant_id',
]);
