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
  ['with a name that is still looked at', { conditions: [{ type: 'NamesAccepted', status: 'True' }] }, false],
  ['not served yet', { conditions: [{ type: 'Established', status: 'False' }] }, false],
  ['served', { conditions: [{ type: 'Established', status: 'True' }] }, true],
])('a CRD %s is told from one that is up', (_, status, expected) => {
  expect(isUp(definition(status))).toBe(expected);
});
