import { aWidget, type Cases, type Step, step } from './case.ts';
import { apply, configMaps, merge, widgets } from './paths.ts';

/** Applies this spec to widget `w`. */
export const applied = (manager: string, spec: unknown, more: object = {}, query = '') =>
  step(`PATCH ${widgets}/w?fieldManager=${manager}${query}`, 200, {
    type: apply,
    body: aWidget({ name: 'w' }, { spec, ...more }),
  });

export const made: Step = { ...applied('one', { size: 3 }), status: 201 };

const statusApplied = (manager: string, conditions: unknown[]) =>
  step(`PATCH ${widgets}/w/status?fieldManager=${manager}`, 200, {
    type: apply,
    body: aWidget({ name: 'w' }, { status: { conditions } }),
  });

export const applyCases: Cases = {
  'apply makes what is not there and names the manager of each field': [
    {
      ...made,
      answer: {
        metadata: {
          generation: 1,
          managedFields: [
            {
              manager: 'one',
              operation: 'Apply',
              apiVersion: 'contract.example.com/v1',
              fieldsType: 'FieldsV1',
              fieldsV1: { 'f:spec': { 'f:size': {} } },
            },
          ],
        },
        spec: { size: 3, color: 'red' },
      },
    },
  ],
  'apply needs a field manager and must not bring managedFields': [
    {
      ...made,
      request: `PATCH ${widgets}/w`,
      status: 422,
      answer: {
        message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      },
    },
    {
      ...made,
      body: aWidget({ name: 'w', managedFields: [{}] }, { spec: { size: 2 } }),
      status: 400,
      answer: { message: 'metadata.managedFields must be nil' },
    },
  ],
  'a field of another manager is a conflict, unless forced': [
    made,
    {
      ...applied('two', { size: 4 }),
      status: 409,
      answer: {
        reason: 'Conflict',
        message: 'Apply failed with 1 conflict: conflict with "one": .spec.size',
        details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.spec.size' }] },
      },
    },
    { ...applied('two', { size: 3, color: 'blue' }), answer: { spec: { size: 3, color: 'blue' } } },
    { ...applied('two', { size: 5, color: 'blue' }, {}, '&force=true'), answer: { spec: { size: 5, color: 'blue' } } },
  ],
  'a field that its only manager no longer applies goes': [
    { ...made, body: aWidget({ name: 'w', labels: { a: '1', b: '2' } }, { spec: { size: 3, tags: ['x'] } }) },
    { ...applied('one', { size: 3 }), without: ['spec.tags', 'metadata.labels'], answer: { spec: { size: 3 } } },
  ],
  'applying the same again writes nothing': [
    { ...made, save: { version: 'metadata.resourceVersion' } },
    { ...applied('one', { size: 3 }), answer: { metadata: { resourceVersion: '{version}' } } },
  ],
  'managers of different conditions do not meet in a list of type map': [
    made,
    statusApplied('one', [{ type: 'Ready', status: 'True' }]),
    {
      ...statusApplied('two', [{ type: 'Held', status: 'False' }]),
      answer: {
        status: {
          conditions: [
            { type: 'Ready', status: 'True' },
            { type: 'Held', status: 'False' },
          ],
        },
      },
    },
    { ...statusApplied('one', []), answer: { status: { conditions: [{ type: 'Held' }] } } },
  ],
  'a merge patch takes a field over, and its first manager meets a conflict': [
    made,
    step(`PATCH ${widgets}/w?fieldManager=patcher`, 200, { type: merge, body: { spec: { size: 7 } } }),
    {
      ...applied('one', { size: 8 }),
      status: 409,
      answer: {
        message: /^Apply failed with 1 conflict: conflict with "patcher" using contract.example.com\/v1: .spec.size$/,
      },
    },
  ],
  'apply to the status of what is not there is not found': [{ ...statusApplied('one', []), status: 404 }],
  'an apply that names a uid makes nothing new': [
    {
      ...made,
      body: aWidget({ name: 'w', uid: 'gone' }, { spec: { size: 3 } }),
      status: 409,
      answer: {
        message:
          'Operation cannot be fulfilled on widgets.contract.example.com "w": uid mismatch: the provided object specified uid gone, and no existing object was found',
      },
    },
  ],
  'apply works on built-in kinds as YAML too': [
    step(`PATCH ${configMaps}/c?fieldManager=one`, 201, {
      type: apply,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { x: 'y' } },
      answer: { metadata: { managedFields: [{ fieldsV1: { 'f:data': { 'f:x': {} } } }] } },
    }),
    step(`PATCH ${configMaps}/c?fieldManager=two`, 200, {
      type: apply,
      body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data: { z: 'y' } },
      answer: { data: { x: 'y', z: 'y' } },
    }),
  ],
};
