import { applyObject } from './apply-object.ts';
import type { ClusterState, WriteOptions } from './cluster-state.ts';
import type { Kind } from './kind.ts';
import { type ApiObject, isJsonObject } from './objects.ts';
import { jsonPatch, mergePatch, PatchError, strategicMergePatch } from './patch.ts';
import type { PatchRequest } from './patch-request.ts';
import { badRequest, StatusError, unsupportedMediaType } from './status-error.ts';
import { updateObject } from './update-object.ts';

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
  if (request.mediaType === types.apply) return applyObject(state, kind, request, options);
  const change = patcher(kind, request);
  const desired = (current: ApiObject) => {
    try {
      return change(current);
    } catch (error) {
      if (error instanceof PatchError) throw rejected(error);
      throw error;
    }
  };
  const { place, subresource } = request;
  return { object: await updateObject(state, kind, { place, subresource, desired }, options), created: false };
}

function patcher(kind: Kind, { mediaType, patch }: PatchRequest): (current: ApiObject) => unknown {
  if (mediaType === types.json) {
    if (!Array.isArray(patch)) throw undecodable('a list of operations', patch);
    return (current) => jsonPatch(current, patch);
  }
  if (!isJsonObject(patch)) throw undecodable('an object', patch);
  if (mediaType === types.merge) return (current) => mergePatch(current, patch);
  if (mediaType === types.strategic && !kind.custom) return (current) => strategicMergePatch(current, patch);
  const { json, merge, strategic, apply } = types;
  throw unsupportedMediaType(kind.custom ? [json, merge, apply] : [json, merge, strategic, apply]);
}

const undecodable = (expected: string, found: unknown) =>
  badRequest(`error decoding patch: expected ${expected}, found ${JSON.stringify(found)?.slice(0, 100)}`);

const rejected = (error: PatchError) =>
  new StatusError(
    422,
    'Invalid',
    `the server rejected our request due to an error in our request: ${error.message}`,
    {},
  );
