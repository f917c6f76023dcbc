import { isJsonObject } from './objects.ts';

/** One reason why the API server refuses an object, as `status.details.causes` carries it. */
export interface Cause {
  field: string;
  reason:
    | 'FieldValueDuplicate'
    | 'FieldValueForbidden'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueRequired'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'FieldValueTypeInvalid';
  /** Without the field: `Required value`, `Invalid value: "x": must …`. */
  message: string;
}

/** The field of a cause that concerns no single field, as Go prints a nil path. */
export const NO_FIELD = '<nil>';

export const required = (field: string, detail = ''): Cause => ({
  field,
  reason: 'FieldValueRequired',
  message: withDetail('Required value', detail),
});

export const forbidden = (field: string, detail: string): Cause => ({
  field,
  reason: 'FieldValueForbidden',
  message: withDetail('Forbidden', detail),
});

export const invalid = (field: string, value: unknown, detail: string): Cause => ({
  field,
  reason: 'FieldValueInvalid',
  message: withDetail(`Invalid value: ${goJson(value)}`, detail),
});

export const invalidType = (field: string, value: unknown, detail: string): Cause => ({
  ...invalid(field, value, detail),
  reason: 'FieldValueTypeInvalid',
});

export const duplicate = (field: string, value: unknown): Cause => ({
  field,
  reason: 'FieldValueDuplicate',
  message: `Duplicate value: ${goJson(value)}`,
});

export const notSupported = (field: string, value: unknown, supported: unknown[]): Cause => ({
  field,
  reason: 'FieldValueNotSupported',
  message: `Unsupported value: ${goJson(value)}: supported values: ${supported.map(quoted).join(', ')}`,
});

export const tooLong = (field: string, max: number): Cause => ({
  field,
  reason: 'FieldValueTooLong',
  message: `Too long: may not be more than ${max} ${max === 1 ? 'byte' : 'bytes'}`,
});

export const tooMany = (field: string, found: number, max: number): Cause => ({
  field,
  reason: 'FieldValueTooMany',
  message: `Too many: ${found}: must have at most ${max} ${max === 1 ? 'item' : 'items'}`,
});

/** All causes in the one line that follows `… is invalid: ` in the answer's message. */
export function describeCauses(causes: Cause[]): string {
  const lines = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  return lines.length === 1 ? String(lines[0]) : `[${lines.join(', ')}]`;
}

/** JSON as Go writes it, with the fields of objects in order of name. */
function goJson(value: unknown): string {
  return JSON.stringify(value, (_name, field: unknown) =>
    isJsonObject(field) ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1))) : field,
  );
}

const withDetail = (what: string, detail: string) => (detail === '' ? what : `${what}: ${detail}`);

const quoted = (value: unknown) => goJson(typeof value === 'string' ? value : goJson(value));
