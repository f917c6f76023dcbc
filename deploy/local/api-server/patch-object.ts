import { applyObject } from './apply-object.ts';
import type { ClusterState, WriteOptions } from './cluster-state.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject } from './objects.ts';
import { jsonPatch, mergePatch, PatchError, strategicMergePatch } from './patch.ts';
import type { PatchRequest } from './patch-request.ts';
import { appliedThroughScale, scaleOf, withScale } from './scale.ts';
import { invalid as invalidField } from './schema-cause.ts';
import { badRequest, invalid, StatusError, unknownMediaType, unsupportedMediaType } from './status-error.ts';
import { updateObject } from './update-object.ts';

const strictDecoding = 'strict decoding error';

const types = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** PATCH in each of its four ways; only an apply can make a new object (`created`). */
export async function patchObject(
  state: ClusterState,
  kind: Kind,
  request: PatchRequest,
  options: WriteOptions,
): Promise<{ object: ApiObject; created: boolean }> {
  const { place, subresource } = request;
  if (request.mediaType === types.apply) {
    const patch = subresource === 'scale' ? appliedThroughScale(kind, request.patch) : request.patch;
    return applyObject(state, kind, { ...request, patch }, options);
  }
  const change = patcher(kind, request);
  let patched: unknown;
  const desired = (current: ApiObject) => {
    try {
      patched = change(subresource === 'scale' ? scaleOf(kind, current) : current);
      return subresource === 'scale' ? withScale(kind, current, patched) : patched;
    } catch (error) {
      if (error instanceof PatchError) throw rejected();
      throw error;
    }
  };
  try {
    return { object: await updateObject(state, kind, { place, subresource, desired }, options), created: false };
  } catch (error) {
    throw isStrict(error) ? misfit(patched, error) : error;
  }
}

function patcher(kind: Kind, { mediaType, patch }: PatchRequest): (current: ApiObject) => unknown {
  if (mediaType === types.json) {
    if (!Array.isArray(patch)) throw undecodable(patch, 'jsonpatch.Patch');
    return (current) => jsonPatch(current, patch);
  }
  if (!Object.values(types).includes(mediaType)) throw unknownMediaType();
  if (!isJsonObject(patch)) throw undecodable(patch, 'map[string]interface {}');
  if (mediaType === types.merge) return (current) => mergePatch(current, patch);
  if (mediaType === types.strategic && !kind.custom) return (current) => strategicMergePatch(current, patch);
  const { json, merge, apply } = types;
  throw unsupportedMediaType([json, merge, apply]);
}

const undecodable = (found: unknown, expected: string) => {
  const type = Array.isArray(found) ? 'array' : typeof found;
  return badRequest(`error decoding patch: json: cannot unmarshal ${type} into Go value of type ${expected}`);
};

const isStrict = (error: unknown): error is StatusError =>
  error instanceof StatusError && error.message.includes(strictDecoding);

/** The result of a strict PATCH is reported whole with its unknown fields, as the real server does. */
function misfit(patched: unknown, { message }: StatusError) {
  const why = message.slice(message.indexOf(strictDecoding));
  return invalid({ group: '', kind: '' }, '', [invalidField('patch', JSON.stringify(patched), why)]);
}

/** The real server keeps to itself what is wrong with the patch. */
const rejected = () =>
  new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
