import { type Cause, describeCauses } from './schema-cause.ts';

/** Names the objects an error is about, as the server words it: `virtualmachines.kubevirt.io`. */
export interface GroupResource {
  group: string;
  resource: string;
}

const inWords = ({ group, resource }: GroupResource) => (group ? `${resource}.${group}` : resource);

/** What a Status says beside its message. */
interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: { reason?: string; message?: string; field?: string }[];
  retryAfterSeconds?: number;
}

/** A refusal as the API server answers it; admission hooks may throw one too, or any error with `status` and `message`. */
export class StatusError extends Error {
  override name = 'StatusError';
  readonly status: number;
  readonly reason: string;
  readonly details: StatusDetails | undefined;
  /** Where a list may go on that cannot as it was asked to. */
  next?: string;
  constructor(status: number, reason: string, message: string, details?: StatusDetails) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.details = details;
  }
}

/** The body of an error answer: a metav1.Status. */
export const statusOf = (error: StatusError) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: error.next ? { continue: error.next } : {},
  status: 'Failure',
  message: error.message,
  ...(error.reason && { reason: error.reason }),
  ...(error.details && { details: error.details }),
  code: error.status,
});

const about = (of: GroupResource, name: string): StatusDetails => ({
  ...(name && { name }),
  ...(of.group && { group: of.group }),
  kind: of.resource,
});

export const notFound = (of: GroupResource, name: string) =>
  new StatusError(404, 'NotFound', `${inWords(of)} "${name}" not found`, about(of, name));

export const alreadyExists = (of: GroupResource, name: string, isGoing = false) =>
  new StatusError(
    409,
    'AlreadyExists',
    `${isGoing ? 'object is being deleted: ' : ''}${inWords(of)} "${name}" already exists`,
    about(of, name),
  );

export const conflict = (of: GroupResource, name: string, why: string) =>
  new StatusError(
    409,
    'Conflict',
    `Operation cannot be fulfilled on ${inWords(of)} "${name}": ${why}`,
    about(of, name),
  );

export const modifiedMeanwhile =
  'the object has been modified; please apply your changes to the latest version and try again';

export const badRequest = (message: string) => new StatusError(400, 'BadRequest', message);

/** An object that has another name than its URL. */
export const misnamed = (object: { name: string }, url: { name: string }) =>
  badRequest(`the name of the object (${object.name}) does not match the name on the URL (${url.name})`);

export const misplaced = () =>
  badRequest('the namespace of the provided object does not match the namespace sent on the request');

export const forbidden = (of: GroupResource, name: string, why: string, causes?: StatusDetails['causes']) =>
  new StatusError(403, 'Forbidden', `${inWords(of)}${name && ` "${name}"`} is forbidden: ${why}`, {
    ...about(of, name),
    ...(causes && { causes }),
  });

/** 422 with one cause for each thing that is wrong; `kind` is the object's kind, not its plural. */
export function invalid(of: { group: string; kind: string }, name: string, causes: Cause[]) {
  const kind = of.group ? `${of.kind}.${of.group}` : of.kind;
  return new StatusError(422, 'Invalid', `${kind} "${name}" is invalid: ${describeCauses(causes)}`, {
    ...(name && { name }),
    ...(of.group && { group: of.group }),
    ...(of.kind && { kind: of.kind }),
    causes: causes.map(({ reason, message, field }) => ({ reason, message, field })),
  });
}

export const expired = (message: string) => new StatusError(410, 'Expired', message);

/** No such path: what the server says of a group or resource it does not serve. */
export const noSuchPath = () =>
  new StatusError(404, 'NotFound', 'the server could not find the requested resource', {});

export const methodNotAllowed = () =>
  new StatusError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});

/** A media type that is not a patch. */
export const unknownMediaType = () => new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});

/** A patch the kind does not take. */
export const unsupportedMediaType = (accepted: string[]) =>
  new StatusError(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
