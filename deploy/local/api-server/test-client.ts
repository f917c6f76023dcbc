import type { ApiServer } from './api-server.ts';
import type { ApiObject } from './objects.ts';

/** What a request was answered. */
interface Answer {
  status: number;
  body: ApiObject & { items: ApiObject[]; message?: string; reason?: string };
  headers: Headers;
}

/** Sends requests to a server the way tests read best: `await send('POST /api/v1/…', { … })`. */
export const clientOf =
  ({ url }: Pick<ApiServer, 'url'>, token?: string) =>
  async (request: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const [method = 'GET', path = ''] = request.split(' ');
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await fetch(url + path, {
      method,
      headers: { 'content-type': type, ...(token && { authorization: `Bearer ${token}` }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = text.startsWith('{') ? JSON.parse(text) : { message: text };
    return { status: response.status, body: parsed as Answer['body'], headers: response.headers };
  };

export async function* watchLines(
  url: string,
  signal: AbortSignal,
): AsyncGenerator<{ type: string; object: ApiObject }> {
  const response = await fetch(url, { signal });
  let rest = '';
  for await (const chunk of response.body ?? []) {
    const lines = (rest + Buffer.from(chunk).toString('utf8')).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as { type: string; object: ApiObject };
  }
}

export const widgets = '/apis/example.com/v1/namespaces/default/widgets';

export const aWidget = (name: string, fields: object = {}) => ({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  metadata: { name },
  spec: { size: 1 },
  ...fields,
});

/** A CustomResourceDefinition whose objects may hold anything in spec and status. */
export const widgetDefinition = (version: object = {}) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wd'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Color', type: 'string', priority: 1, jsonPath: '.spec.color' },
        ],
        selectableFields: [{ jsonPath: '.spec.color' }],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', description: 'How big it is.' },
                  color: { type: 'string', default: 'red' },
                },
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
        ...version,
      },
    ],
  },
});
