import { expect, test } from 'vitest';
import type { AnyObject } from './kinds.ts';
import { isUp } from './readiness.ts';

const definition = (status: object) =>
  ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'vmdiskimages.pelotech.ot', generation: 1 },
    status,
  }) as unknown as AnyObject;

test.each([
  ['only just taken', { conditions: null, storedVersions: null }, false],
  ['without a status', {}, false],
  ['with a name that is still being checked', { conditions: [{ type: 'NamesAccepted', status: 'True' }] }, false],
  ['not served yet', { conditions: [{ type: 'Established', status: 'False' }] }, false],
  ['served', { conditions: [{ type: 'Established', status: 'True' }] }, true],
])('a CRD %s is ready or not', (_, status, expected) => {
  expect(isUp(definition(status))).toBe(expected);
});

const deployment = (status: object, spec: object = { replicas: 2 }) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'start-sync', generation: 3 },
    spec,
    status: { conditions: [{ type: 'Available', status: 'True' }], ...status },
  }) as unknown as AnyObject;
const rolledOut = { observedGeneration: 3, replicas: 2, updatedReplicas: 2, availableReplicas: 2 };

test.each([
  ['rolled out', rolledOut, true],
  ['that no controller has observed', { ...rolledOut, observedGeneration: undefined }, false],
  ['whose change is not observed yet', { ...rolledOut, observedGeneration: 2 }, false],
  ['of which only some pods are new', { ...rolledOut, updatedReplicas: 1 }, false],
  ['of which an old pod still runs', { ...rolledOut, replicas: 3 }, false],
  ['of which a new pod does not serve yet', { ...rolledOut, availableReplicas: 1 }, false],
  ['that is not Available', { ...rolledOut, conditions: [{ type: 'Available', status: 'False' }] }, false],
])('a Deployment %s is judged as `kubectl rollout status` does', (_, status, expected) => {
  expect(isUp(deployment(status))).toBe(expected);
});

test('a Deployment scaled to zero is ready without pods', () => {
  expect(isUp(deployment({ observedGeneration: 3 }, { replicas: 0 }))).toBe(true);
});
