import type { IncomingMessage, ServerResponse } from 'node:http';
import { review } from './access-review.ts';
import { answer, type Encoder } from './answer.ts';
import { type AnswerForm, answerForm, metadataListKind, metadataOf } from './answer-form.ts';
import type { Tokens, User } from './authentication.ts';
import type { ClusterState, Subresource, WriteOptions } from './cluster-state.ts';
import { createObject } from './create-object.ts';
import { deleteObject } from './delete-object.ts';
import { groupResourceOf, type Kind, presented, storeKeyOf } from './kind.ts';
import { listObjects, matcher } from './list-objects.ts';
import { assertWatchOptions, parseResourceVersion } from './list-options.ts';
import type { ApiObject } from './objects.ts';
import { patchObject } from './patch-object.ts';
import { authorise } from './rbac.ts';
import { confirmNoEscalation } from './rbac-escalation.ts';
import { replaceObject } from './replace-object.ts';
import { requestBody } from './request-body.ts';
import {
  deleteOptions,
  fieldManagerIn,
  fieldValidationIn,
  isDryRun,
  isTrue,
  listQuery,
  numberIn,
} from './request-query.ts';
import type { ResourceTarget } from './request-target.ts';
import { scaleOf } from './scale.ts';
import { notFound } from './status-error.ts';
import { listKindOf, table } from './table.ts';
import { requestToken } from './token-request.ts';
import type { Verb } from './verb.ts';
import { streamWatch } from './watch-stream.ts';

/** A request for objects of one kind, after its sender is known and allowed. */
interface ResourceRequest {
  state: ClusterState;
  encoder: Encoder;
  tokens: Tokens;
  target: ResourceTarget;
  kind: Kind;
  verb: Verb;
  user: User;
  query: URLSearchParams;
  form: AnswerForm;
  request: IncomingMessage;
  response: ServerResponse;
  /** Keeps a watch, so that the server can end it. */
  onWatch(watch: { end: () => void }): void;
}

/** Carries the request out and answers it; throws a StatusError to be answered. */
export async function serveResource(call: Omit<ResourceRequest, 'form'>): Promise<void> {
  await handlers[call.verb]({ ...call, form: answerForm(call.request) });
}

const handlers: Record<Verb, (call: ResourceRequest) => void | Promise<void>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: removeAll,
};

function get(call: ResourceRequest) {
  const { state, kind, target, query } = call;
  parseResourceVersion(query.get('resourceVersion') ?? '');
  const name = target.name ?? '';
  const object = state.store.get(storeKeyOf(kind), target.namespace, name);
  if (!object) throw notFound(groupResourceOf(kind), name);
  answerObject(call, 200, presented(kind, object));
}

function list({ state, kind, target, query, encoder, form, response }: ResourceRequest) {
  const { items, ...metadata } = listObjects(state, kind, listQuery(query, target.namespace));
  if (form === 'object') {
    return answer(response, 200, encoder.encodeList(listHead(kind, metadata), items, !kind.custom));
  }
  if (form === 'metadata') {
    return answer(response, 200, JSON.stringify({ ...metadataListKind, metadata, items: items.map(metadataOf) }));
  }
  const options = {
    now: state.clock.now(),
    includeObject: includeObjectIn(query),
    metadata: { ...metadata },
    withColumns: true,
  };
  answer(response, 200, JSON.stringify(table(kind, items, options)));
}

function watch(call: ResourceRequest) {
  const { state, kind, target, query, encoder, form, response } = call;
  const list = listQuery(query, target.namespace);
  matcher(kind, list);
  parseResourceVersion(list.resourceVersion);
  const sendInitialEvents = isTrue(query, 'sendInitialEvents');
  const bookmarks = isTrue(query, 'allowWatchBookmarks');
  assertWatchOptions(list, sendInitialEvents);
  const options = {
    query: { ...list, sendInitialEvents, bookmarks },
    timeoutSeconds: numberIn(query, 'timeoutSeconds'),
    bookmarks,
    form,
    includeObject: includeObjectIn(query),
  };
  call.onWatch(streamWatch(state, encoder, kind, options, response));
}

async function create(call: ResourceRequest) {
  const { state, kind, target, tokens, response } = call;
  const body = await requestBody(call.request, mediaTypeOf(call.request));
  if (target.subresource === 'token') {
    return answer(response, 201, JSON.stringify(requestToken(state, tokens, placeOf(call), body)));
  }
  if (kind.verbs && !kind.verbs.includes('get')) {
    return answer(response, 201, JSON.stringify(review(call, kind, body)));
  }
  answerObject(call, 201, await createObject(call.state, call.kind, call.target.namespace, body, writeOptions(call)));
}

async function update(call: ResourceRequest) {
  const body = await requestBody(call.request, mediaTypeOf(call.request));
  const { object, created } = await replaceObject(
    call.state,
    call.kind,
    placeOf(call),
    subresourceOf(call),
    body,
    writeOptions(call),
  );
  answerObject(call, created ? 201 : 200, object);
}

async function patch(call: ResourceRequest) {
  const mediaType = mediaTypeOf(call.request);
  const change = {
    place: placeOf(call),
    subresource: subresourceOf(call),
    mediaType,
    patch: await requestBody(call.request, mediaType),
    force: isTrue(call.query, 'force'),
  };
  const { object, created } = await patchObject(call.state, call.kind, change, writeOptions(call));
  answerObject(call, created ? 201 : 200, object);
}

async function remove(call: ResourceRequest) {
  const { state, kind, query, user } = call;
  const body = await requestBody(call.request, mediaTypeOf(call.request));
  const options = { ...deleteOptions(query, body, user.name), ...senderOf(call) };
  const { object, gone } = await deleteObject(state, kind, placeOf(call), options);
  if (!gone || kind.returnsDeleted) return answerObject(call, 200, object);
  const { name, uid } = object.metadata;
  const details = { name, ...(kind.group && { group: kind.group }), kind: kind.plural, uid };
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
  answer(call.response, 200, JSON.stringify(status));
}

async function removeAll(call: ResourceRequest) {
  const { state, kind, target, query, user, request, response, encoder } = call;
  const body = await requestBody(request, mediaTypeOf(request));
  const { items, ...metadata } = listObjects(state, kind, listQuery(query, target.namespace));
  const options = { ...deleteOptions(query, body, user.name), ...senderOf(call) };
  const removed: ApiObject[] = [];
  for (const { metadata: each } of items) {
    const { object } = await deleteObject(state, kind, { namespace: each.namespace, name: each.name }, options);
    removed.push(object);
  }
  answer(response, 200, encoder.encodeList(listHead(kind, metadata), removed, !kind.custom));
}

/** A list of custom resources says that there is no next page, one of built-in kinds says nothing. */
const listHead = (kind: Kind, metadata: object) => ({
  ...listKindOf(kind),
  metadata: { ...(kind.custom && { continue: '' }), ...metadata },
});

function answerObject(call: ResourceRequest, status: number, found: ApiObject) {
  const { state, kind, query, encoder, form, response } = call;
  const object = subresourceOf(call) === 'scale' ? scaleOf(kind, found) : found;
  if (form === 'object') return answer(response, status, encoder.encode(object));
  if (form === 'metadata') return answer(response, status, JSON.stringify(metadataOf(object)));
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  const options = { now: state.clock.now(), includeObject: includeObjectIn(query), metadata, withColumns: true };
  answer(response, status, JSON.stringify(table(kind, [object], options)));
}

const includeObjectIn = (query: URLSearchParams) => query.get('includeObject') || 'Metadata';

const mediaTypeOf = ({ headers }: IncomingMessage) =>
  (headers['content-type'] ?? 'application/json').split(';')[0]?.trim() ?? '';

const placeOf = ({ target }: ResourceRequest) => ({ namespace: target.namespace, name: target.name ?? '' });

const subresourceOf = ({ target: { subresource } }: ResourceRequest): Subresource =>
  subresource === 'status' || subresource === 'scale' ? subresource : '';

/** In which groups the sender is, and how to tell them something beside the answer. */
const senderOf = ({ user, response }: ResourceRequest) => ({
  groups: user.groups,
  warn: (message: string) => void response.appendHeader('warning', `299 - ${JSON.stringify(message)}`),
});

function writeOptions(call: ResourceRequest): WriteOptions {
  const { state, kind, target, verb, query, user, request } = call;
  const isApply = mediaTypeOf(request) === 'application/apply-patch+yaml';
  return {
    user: user.name,
    fieldManager: isApply ? (query.get('fieldManager') ?? '') : fieldManagerIn(query, request.headers['user-agent']),
    dryRun: isDryRun(query.getAll('dryRun'), 'PatchOptions'),
    fieldValidation: fieldValidationIn(query),
    // A client that creates an object by apply or PUT needs both verbs (k8s.io/apiserver, endpoints/handlers: withAuthorization).
    ...(verb === 'create' ? {} : { authoriseCreate: () => authorise(state, user, 'create', target) }),
    confirm: (object, old) => confirmNoEscalation(state, user, { kind, target }, object, old),
    ...senderOf(call),
  };
}
