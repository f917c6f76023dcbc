import type { ErrorObject } from 'ajv';
import { explainBranches } from './schema-branches.ts';
import {
  type Cause,
  invalid,
  invalidType,
  NO_FIELD,
  notSupported,
  required,
  tooLong,
  tooMany,
} from './schema-cause.ts';
import { formats } from './schema-formats.ts';
import { typesOf } from './schema-json.ts';
import { fieldPath, fieldSchemaOf, type Structural } from './schema-structural.ts';

/** A failed keyword with the place it was found at: the path as names and indexes, the value there, and its schema. */
interface Failure {
  error: ErrorObject;
  path: (string | number)[];
  value: unknown;
  schema: Structural | undefined;
}

/** Locates ajv's errors in the object, leaving out those the API server does not say. */
export function failuresOf(errors: ErrorObject[], schema: Structural, object: unknown): Failure[] {
  const failures = explainBranches(errors).map((error) => locate(error, schema, object));
  return failures.filter((failure) => !isHidden(failure, failures));
}

/** Words a failure as the kube-apiserver does. */
export function causeOf({ error, path, value, schema }: Failure): Cause {
  const field = path.reduce<string>(
    (parent, step) => (typeof step === 'number' ? `${parent}[${step}]` : fieldPath(parent, step)),
    '',
  );
  const { params, keyword } = error;
  const inBody = (rest: string) => invalid(field, value, `${field} in body ${rest}`);
  switch (keyword) {
    case 'required':
      return required(fieldPath(field, String(params.missingProperty)));
    case 'type':
      return wrongType(field, value, schema, error);
    case 'format':
      return invalidType(field, value, `${field} in body must be of type ${params.format}: ${JSON.stringify(value)}`);
    case 'enum':
      return notSupported(field, value, params.allowedValues);
    case 'maxLength':
      return tooLong(field, params.limit);
    case 'minLength':
      return inBody(`should be at least ${params.limit} chars long`);
    case 'pattern':
      return inBody(`should match '${params.pattern}'`);
    case 'maxItems':
      return tooMany(field, sizeOf(value), params.limit);
    case 'maxProperties':
      return tooMany(field, sizeOf(value), params.limit);
    case 'minItems':
      return invalid(field, sizeOf(value), `${field} in body should have at least ${params.limit} items`);
    case 'minProperties':
      return invalid(field, sizeOf(value), `${field} in body should have at least ${params.limit} properties`);
    case 'multipleOf':
      return inBody(`should be a multiple of ${params.multipleOf}`);
    case 'minimum':
      return inBody(`should be greater than or equal to ${params.limit}`);
    case 'exclusiveMinimum':
      return inBody(`should be greater than ${params.limit}`);
    case 'maximum':
      return inBody(`should be less than or equal to ${params.limit}`);
    case 'exclusiveMaximum':
      return inBody(`should be less than ${params.limit}`);
    default:
      return invalid(NO_FIELD, '', `${JSON.stringify(field)} ${combination(error, schema)}`);
  }
}

function combination({ keyword, params }: ErrorObject, schema: Structural | undefined): string {
  if (keyword === 'allOf') {
    return `must validate all the schemas (allOf)${params.failed === schema?.allOf?.length ? '. None validated' : ''}`;
  }
  if (keyword === 'anyOf') return 'must validate at least one schema (anyOf)';
  if (keyword === 'not') return 'must not validate the schema (not)';
  const found = params.passingSchemas ? `Found ${params.passingSchemas.length} valid alternatives` : 'Found none valid';
  return `must validate one and only one schema (oneOf). ${found}`;
}

function wrongType(field: string, value: unknown, schema: Structural | undefined, error: ErrorObject): Cause {
  const format = schema?.format !== undefined && Object.hasOwn(formats, schema.format) ? schema.format : undefined;
  const [expected, found] =
    format !== undefined && value !== null && !Array.isArray(value)
      ? [format, goFormatOf(value)]
      : [allowedTypes(error, schema), typeOf(value)];
  return invalidType(field, found, `${field} in body must be of type ${expected}: ${JSON.stringify(found)}`);
}

function allowedTypes({ schemaPath, params }: ErrorObject, schema: Structural | undefined): string {
  const isInBranch = /\/(allOf|anyOf|oneOf)\//.test(schemaPath);
  return isInBranch || !schema ? String(params.type) : typesOf(schema).join(',');
}

function goFormatOf(value: unknown): string {
  if (typeof value !== 'number') return '';
  return Number.isInteger(value) ? 'int64' : 'float64';
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

const sizeOf = (value: unknown) => (Array.isArray(value) ? value.length : Object.keys(value ?? {}).length);

/** Of a string's faults the kube-apiserver says only the first. */
function isHidden({ error: { keyword, instancePath } }: Failure, all: Failure[]): boolean {
  const hasBeside = (...keywords: string[]) =>
    all.some(({ error }) => error.instancePath === instancePath && keywords.includes(error.keyword));
  return keyword === 'pattern'
    ? hasBeside('maxLength', 'minLength')
    : keyword === 'minLength' && hasBeside('maxLength');
}

function locate(error: ErrorObject, root: Structural, object: unknown): Failure {
  let value = object;
  let schema: Structural | undefined = root;
  const path: (string | number)[] = [];
  for (const token of error.instancePath.split('/').slice(1)) {
    const name = token.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      path.push(Number(name));
      value = value[Number(name)];
      schema = schema?.items;
    } else {
      path.push(name);
      value = (value as Record<string, unknown>)[name];
      schema = fieldSchemaOf(schema, name);
    }
  }
  return { error, path, value, schema };
}
