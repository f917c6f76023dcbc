/** One request and what its answer must be like. In paths and bodies `{ns}` is the case's own namespace, `{x}` what was saved as x. */
export interface Step {
  /** Method and path: `POST /api/v1/namespaces/{ns}/configmaps`. A GET with `watch=1` needs a timeoutSeconds. */
  request: string;
  body?: unknown;
  /** The Content-Type; by default JSON. */
  type?: string;
  accept?: string;
  /** Impersonates this user, with these groups. */
  as?: { user: string; groups?: string[] };
  /** The bearer token to send instead of being the admin: `{x}`. */
  token?: string;
  /** Whether the server forgets its history before. */
  afterCompaction?: boolean;
  status: number;
  /** What the answer contains at least; a RegExp matches text. */
  answer?: unknown;
  /** Paths (`metadata.generation`) the answer must not have. */
  without?: string[];
  /** The texts of the Warning headers, all of them. */
  warnings?: string[];
  /** The lines of a watch in order, each at least so. */
  events?: unknown[];
  /** Keeps values of the answer for later steps, by their path. */
  save?: Record<string, string>;
  /** Asked again until it answers so: for what a controller does in the background. */
  eventually?: boolean;
  /** Which part of a large answer is compared with the recording; by default all of it. */
  pick?(body: unknown): unknown;
}

/** A step from its request, the status of the answer, and the rest: `step('GET /api', 200)`. */
export const step = (request: string, status: number, more: Omit<Partial<Step>, 'request' | 'status'> = {}): Step => ({
  request,
  status,
  ...more,
});

/** A fact about the API: the same on the local cluster and on any real one. */
export interface Case {
  name: string;
  steps: Step[];
}

/** The steps of several cases, by name. */
export type Cases = Readonly<Record<string, Step[]>>;

/** The kind that cases about custom resources use. */
export const widgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.contract.example.com' },
  spec: {
    group: 'contract.example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget', shortNames: ['wdg'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.color' }],
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Color', type: 'string', priority: 1, jsonPath: '.spec.color' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 1 },
                  color: { type: 'string', default: 'red' },
                  tags: { type: 'array', items: { type: 'string' } },
                },
                'x-kubernetes-validations': [
                  { rule: 'self.size < 100', message: 'too large' },
                  { rule: 'self.size >= oldSelf.size', message: 'may not shrink' },
                ],
              },
              status: {
                type: 'object',
                properties: {
                  phase: { type: 'string' },
                  conditions: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['type'],
                    items: {
                      type: 'object',
                      required: ['type'],
                      properties: { type: { type: 'string' }, status: { type: 'string' } },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** A body of that kind. */
export const aWidget = (metadata: object, more: object = { spec: { size: 1 } }) => ({
  apiVersion: 'contract.example.com/v1',
  kind: 'Widget',
  metadata,
  ...more,
});
