import type { JsonObject } from './objects.ts';
import { decodeMessage, type Field, type Message } from './protobuf.ts';
import { StatusError } from './status-error.ts';

const message = (...fields: [number, string, Field['type'], 'repeated'?][]): Message =>
  Object.fromEntries(
    fields.map(([number, name, type, repeated]) => [number, { name, type, ...(repeated && { repeated: true }) }]),
  );

const metadata = message(
  [1, 'name', 'string'],
  [2, 'generateName', 'string'],
  [3, 'namespace', 'string'],
  [5, 'uid', 'string'],
  [6, 'resourceVersion', 'string'],
  [11, 'labels', 'map of strings'],
  [12, 'annotations', 'map of strings'],
  [14, 'finalizers', 'string', 'repeated'],
);

const rule = message(
  [1, 'verbs', 'string', 'repeated'],
  [2, 'apiGroups', 'string', 'repeated'],
  [3, 'resources', 'string', 'repeated'],
  [4, 'resourceNames', 'string', 'repeated'],
  [5, 'nonResourceURLs', 'string', 'repeated'],
);

const subject = message(
  [1, 'kind', 'string'],
  [2, 'apiGroup', 'string'],
  [3, 'name', 'string'],
  [4, 'namespace', 'string'],
);
const roleRef = message([1, 'apiGroup', 'string'], [2, 'kind', 'string'], [3, 'name', 'string']);

const role = message([1, 'metadata', metadata], [2, 'rules', rule, 'repeated']);
const binding = message([1, 'metadata', metadata], [2, 'subjects', subject, 'repeated'], [3, 'roleRef', roleRef]);

const accessReview = message(
  [
    1,
    'resourceAttributes',
    message(
      [1, 'namespace', 'string'],
      [2, 'verb', 'string'],
      [3, 'group', 'string'],
      [4, 'version', 'string'],
      [5, 'resource', 'string'],
      [6, 'subresource', 'string'],
      [7, 'name', 'string'],
    ),
  ],
  [2, 'nonResourceAttributes', message([1, 'path', 'string'], [2, 'verb', 'string'])],
);
const tokenRequest = message([1, 'audiences', 'string', 'repeated'], [4, 'expirationSeconds', 'integer']);

/** What `kubectl create <kind>` and `kubectl auth` send as protobuf, whatever the server says it takes (numbers of k8s.io/api's generated.proto). */
const kinds: Record<string, Message> = {
  Namespace: message([1, 'metadata', metadata]),
  ConfigMap: message(
    [1, 'metadata', metadata],
    [2, 'data', 'map of strings'],
    [3, 'binaryData', 'map of bytes'],
    [4, 'immutable', 'boolean'],
  ),
  Secret: message(
    [1, 'metadata', metadata],
    [2, 'data', 'map of bytes'],
    [3, 'type', 'string'],
    [4, 'stringData', 'map of strings'],
    [5, 'immutable', 'boolean'],
  ),
  ServiceAccount: message([1, 'metadata', metadata]),
  Role: role,
  ClusterRole: role,
  RoleBinding: binding,
  ClusterRoleBinding: binding,
  SelfSubjectAccessReview: message([2, 'spec', accessReview]),
  SelfSubjectReview: message(),
  SelfSubjectRulesReview: message([2, 'spec', message([1, 'namespace', 'string'])]),
  TokenRequest: message([2, 'spec', tokenRequest]),
};

const typeMeta = message([1, 'apiVersion', 'string'], [2, 'kind', 'string']);
const envelope = message([1, 'typeMeta', typeMeta], [2, 'raw', 'bytes']);
const magic = 'k8s\0';

/** Reads a Kubernetes protobuf body; throws 415 for a kind that is taken as JSON only. */
export function protobufObject(bytes: Buffer): JsonObject {
  const { typeMeta: type, raw } = decodeMessage(bytes.subarray(magic.length), envelope);
  const { apiVersion, kind } = type as { apiVersion?: string; kind?: string };
  const fields = kinds[kind ?? ''];
  if (bytes.subarray(0, magic.length).toString() !== magic || !fields) {
    const why = `a ${kind || 'body'} in protobuf is not understood here: send it as JSON, with kubectl apply -f or create -f`;
    throw new StatusError(415, 'UnsupportedMediaType', why);
  }
  return { apiVersion, kind, ...decodeMessage(Buffer.from(String(raw ?? ''), 'base64'), fields) };
}
