const text = { type: 'string' };

/** The kind that cases about schemas use: one field for each thing a schema can say. */
export const gadgetDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.contract.example.com' },
  spec: {
    group: 'contract.example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', kind: 'Gadget', shortNames: ['gdg'], categories: ['contract'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            description: 'A gadget holds one field for each thing a schema can say.',
            type: 'object',
            'x-kubernetes-validations': [
              { rule: "!self.metadata.name.startsWith('bad')", message: 'a gadget is not called bad' },
            ],
            properties: {
              spec: {
                description: 'What is wanted.',
                type: 'object',
                properties: {
                  mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Slow', description: 'How it goes.' },
                  code: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
                  port: { 'x-kubernetes-int-or-string': true },
                  ratio: { type: 'number', minimum: 0, exclusiveMinimum: true, maximum: 1 },
                  step: { type: 'integer', multipleOf: 5 },
                  note: { type: 'string', nullable: true, default: 'none' },
                  when: { type: 'string', format: 'date-time' },
                  names: { type: 'array', items: text, 'x-kubernetes-list-type': 'set', maxItems: 3 },
                  labels: { type: 'object', additionalProperties: text },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  limits: {
                    description: 'How far it may go.',
                    type: 'object',
                    default: { low: 1, high: 9 },
                    properties: { low: { type: 'integer', default: 1 }, high: { type: 'integer', default: 9 } },
                    'x-kubernetes-validations': [
                      {
                        rule: 'self.low <= self.high',
                        messageExpression: 'self.high > 5 ? "low is above a high high" : "low is above a low high"',
                        fieldPath: '.low',
                        reason: 'FieldValueForbidden',
                      },
                    ],
                  },
                  disks: {
                    type: 'array',
                    maxItems: 5,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: { type: 'string', maxLength: 10 }, size: { type: 'integer', default: 1 } },
                    },
                    'x-kubernetes-validations': [
                      { rule: "self.all(disk, disk.name != 'root' || disk.size > 4)", message: 'root is too small' },
                    ],
                  },
                  fixed: {
                    type: 'string',
                    'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }],
                  },
                },
              },
              status: {
                type: 'object',
                properties: { count: { type: 'integer', minimum: 0 } },
                'x-kubernetes-validations': [
                  { rule: '!has(oldSelf.count) || self.count >= oldSelf.count', message: 'count never falls' },
                ],
              },
            },
          },
        },
      },
    ],
  },
};

/** A body of that kind. */
export const aGadget = (metadata: object, more: object) => ({
  apiVersion: 'contract.example.com/v1',
  kind: 'Gadget',
  metadata,
  ...more,
});
