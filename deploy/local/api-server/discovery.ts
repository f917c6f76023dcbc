import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { answer } from './answer.ts';
import type { ClusterState } from './cluster-state.ts';
import { apiVersionOf, type Kind, type KindRegistry } from './kind.ts';
import { openApiV2, openApiV3, openApiV3Index } from './open-api.ts';
import { subresourcesOf, verbsOf } from './verb.ts';

/** The server's version: the Kubernetes whose answers it gives. */
const version = {
  major: '1',
  minor: '34',
  emulationMajor: '1',
  emulationMinor: '34',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '33',
  gitVersion: 'v1.34.4',
  gitCommit: '',
  gitTreeState: '',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'local',
};

/** Answers what is no resource: version, health, discovery, OpenAPI; 404 for anything else. */
export function nonResource(
  { kinds }: ClusterState,
  { path, request, response }: { path: string; request: IncomingMessage; response: ServerResponse },
) {
  if (['/healthz', '/livez', '/readyz'].includes(path)) return answer(response, 200, 'ok', 'text/plain; charset=utf-8');
  // Clients that are made of the OpenAPI document ask with a slash.
  const trimmed = path.replace(/(?<=.)\/$/, '');
  if ((trimmed === '/api' || trimmed === '/apis') && wantsAggregated(request)) {
    return answer(response, 200, JSON.stringify(aggregated(kinds, trimmed)), aggregatedType);
  }
  const document = trimmed === '/version' ? version : (discoveryAt(kinds, trimmed) ?? openApiAt(kinds, path));
  if (path === '/openapi/v2' && wantsProtobuf(request)) return answer(response, 200, emptyOpenApiV2, protobufType);
  if (!document) {
    const text = path.startsWith('/openapi/v3/') ? '' : '404 page not found\n';
    return answer(response, 404, text, 'text/plain; charset=utf-8');
  }
  const text = JSON.stringify(document);
  response.setHeader('etag', `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`);
  answer(response, 200, text);
}

const protobufType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';
const wantsProtobuf = ({ headers }: IncomingMessage) => (headers.accept ?? '').includes('proto-openapi');

/** A document of version 2 that says nothing but its version, in protobuf: kubectl takes no other form, and needs no more. */
const emptyOpenApiV2 = '\n\u00032.0';

function openApiAt(kinds: KindRegistry, path: string): unknown {
  if (path === '/openapi/v2') return openApiV2(kinds);
  if (path === '/openapi/v3') return openApiV3Index(kinds);
  const [, groupVersion] = /^\/openapi\/v3\/(?:api|apis)\/(.+)$/.exec(path) ?? [];
  const members = groupVersion ? kinds.all().filter((kind) => apiVersionOf(kind) === groupVersion) : [];
  return members.length > 0 ? openApiV3(members) : undefined;
}

function discoveryAt(kinds: KindRegistry, path: string): unknown {
  if (path === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (path === '/apis') return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups(kinds).map(groupDocument) };
  const [, root, group, ofVersion] = /^\/(api|apis)\/([^/]+)(?:\/([^/]+))?$/.exec(path) ?? [];
  if (!group) return undefined;
  if (root === 'apis' && !ofVersion) {
    const found = groups(kinds).find((candidate) => candidate.group === group);
    return found && { kind: 'APIGroup', apiVersion: 'v1', ...groupDocument(found) };
  }
  const groupVersion = root === 'api' ? group : `${group}/${ofVersion}`;
  const members = kinds.all().filter((kind) => apiVersionOf(kind) === groupVersion);
  return members.length > 0 ? resourceList(groupVersion, members) : undefined;
}

interface Group {
  group: string;
  versions: { version: string; kinds: Kind[] }[];
}

/**
 * The named groups, each with its versions in Kubernetes' order of preference. Custom groups come last and by name: of
 * two kinds with the same plural, kubectl uses the kind of the first group.
 */
function groups(kinds: KindRegistry): Group[] {
  const custom = kinds.all().filter((kind) => kind.custom);
  const ordered = [
    ...kinds.all().filter((kind) => !kind.custom && kind.group),
    ...custom.sort((a, b) => (a.group < b.group ? -1 : Number(a.group > b.group))),
  ];
  return [...Map.groupBy(ordered, (kind) => kind.group)].map(([group, members]) => ({
    group,
    versions: versionsOf(members),
  }));
}

const versionsOf = (members: Kind[]) =>
  [...Map.groupBy(members, (kind) => kind.version)]
    .sort(([a], [b]) => byPriority(a, b))
    .map(([version, kinds]) => ({ version, kinds }));

/** GA before beta before alpha, newer before older. */
function byPriority(a: string, b: string): number {
  const rank = (version: string) => {
    const [, major, stage, minor] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    return [stage === undefined ? 2 : stage === 'beta' ? 1 : 0, Number(major ?? -1), Number(minor ?? 0)];
  };
  const [first, second] = [rank(a), rank(b)];
  const difference = first.map((part, index) => (second[index] ?? 0) - part).find((part) => part !== 0);
  return difference ?? a.localeCompare(b);
}

function groupDocument({ group, versions }: Group) {
  const all = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: group, versions: all, preferredVersion: all[0] };
}

/** The subresources of a kind of their own. */
const answeredBy: Record<string, { group: string; version: string; kind: string }> = {
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
  scale: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
};

const resourceList = (groupVersion: string, members: Kind[]) => ({
  kind: 'APIResourceList',
  // The core group is returned in the oldest form, which has no apiVersion.
  ...(groupVersion !== 'v1' && { apiVersion: 'v1' }),
  groupVersion,
  resources: members.flatMap((kind) => {
    const { plural: name, singular: singularName, namespaced, shortNames, categories } = kind;
    const resource = {
      ...{ name, singularName, namespaced, kind: kind.kind, verbs: verbsOf(kind, '') },
      ...(shortNames.length > 0 && { shortNames }),
      ...(categories.length > 0 && { categories }),
    };
    const subresources = subresourcesOf(kind).map((subresource) => ({
      ...{ name: `${name}/${subresource}`, singularName: '', namespaced },
      ...(answeredBy[subresource] ?? { kind: kind.kind }),
      verbs: verbsOf(kind, subresource),
    }));
    return [resource, ...subresources];
  }),
});

const aggregatedType = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const wantsAggregated = ({ headers }: IncomingMessage) =>
  (headers.accept ?? '').split(',').some((type) => type.includes('as=APIGroupDiscoveryList') && /v=v2(;|$)/.test(type));

/** All groups with all their resources in one answer, as kubectl asks for since 1.27. */
function aggregated(kinds: KindRegistry, path: string) {
  const core = { group: '', versions: versionsOf(kinds.all().filter((kind) => kind.group === '')) };
  const shown = path === '/api' ? [core] : groups(kinds);
  const items = shown.map(({ group, versions }) => ({
    metadata: { ...(group && { name: group }) },
    versions: versions.map((each) => ({
      version: each.version,
      resources: each.kinds.map(aggregatedResource),
      freshness: 'Current',
    })),
  }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2', metadata: {}, items };
}

function aggregatedResource(kind: Kind) {
  const { group, version } = kind;
  // Of what is built in, the real server leaves the group and version to where it stands.
  const place = kind.custom ? { group, version } : { group: '', version: '' };
  const responseKind = { ...place, kind: kind.kind };
  const subresources = subresourcesOf(kind).map((subresource) => ({
    subresource,
    responseKind: answeredBy[subresource] ?? responseKind,
    verbs: verbsOf(kind, subresource),
  }));
  return {
    resource: kind.plural,
    responseKind,
    scope: kind.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind, ''),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
