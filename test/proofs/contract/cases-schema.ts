import { type Cases, type Step, step } from './case.ts';
import { aGadget } from './gadget.ts';
import { gadgets, merge } from './paths.ts';

const posted = (name: string, spec: unknown, status = 201) =>
  step(`POST ${gadgets}`, status, { body: aGadget({ name }, spec as object) });
const made = (spec: unknown = {}): Step => posted('g', { spec });
const patched = (spec: unknown, status = 200) => step(`PATCH ${gadgets}/g`, status, { type: merge, body: { spec } });
const refused = (...specs: unknown[]): Step[] => specs.map((spec) => posted('g', { spec }, 422));

export const schemaCases: Cases = {
  'defaults fill what is absent, inside of defaults and list elements, too': [
    {
      ...posted('g', { spec: { disks: [{ name: 'a' }, { name: 'b', size: 2 }] } }),
      answer: {
        spec: {
          mode: 'Slow',
          note: 'none',
          limits: { low: 1, high: 9 },
          disks: [
            { name: 'a', size: 1 },
            { name: 'b', size: 2 },
          ],
        },
      },
    },
    { ...posted('bare', {}), without: ['spec'] },
  ],
  'a null is dropped for a default, unless the field may be null': [
    { ...made({ mode: null, note: null }), answer: { spec: { mode: 'Slow', note: null } } },
    patched({ note: null, mode: null }),
    { ...patched({ code: null }), without: ['spec.code'] },
  ],
  'unknown fields are pruned at every depth, except where all are kept': [
    {
      ...made({
        limits: { more: 1 },
        disks: [{ name: 'a', more: 1 }],
        free: { more: { still: 1 } },
        labels: { a: 'b' },
      }),
      answer: { spec: { free: { more: { still: 1 } }, labels: { a: 'b' } } },
      without: ['spec.limits.more', 'spec.disks.0.more'],
    },
  ],
  'an enum names what it takes': [...refused({ mode: 'Sideways' }), made(), patched({ mode: 'Sideways' }, 422)],
  'texts have a pattern and a length': refused(
    { code: 'ABC' },
    { code: 'a' },
    { code: 'abcdefg' },
    { when: 'yesterday' },
  ),
  'numbers have bounds and steps': refused({ ratio: 0 }, { ratio: 1.5 }, { step: 7 }, { step: 1.5 }),
  'types are checked, and what may be either is': [
    ...refused({ port: true }, { names: 'a' }, { limits: [] }, { labels: { a: 1 } }, 'text'),
    made({ port: 80 }),
    patched({ port: 'http' }),
  ],
  'a set has each element once, a list of type map each key': refused(
    { names: ['a', 'b', 'a'] },
    { names: ['a', 'b', 'c', 'd'] },
    { disks: [{ name: 'a' }, { name: 'a' }] },
    { disks: [{ size: 1 }] },
  ),
  'all that is wrong is said at once': refused({ mode: 'Sideways', code: 'A', step: 7 }).map((step) => ({
    ...step,
    // In its message a server tells the faults in any order.
    pick: (body) => (body as { details: { causes: unknown } }).details,
  })),
  'a CEL rule has its message, or an expression for it, its field and its reason': [
    ...refused({ limits: { low: 10 } }, { disks: [{ name: 'root', size: 2 }] }),
    posted('bad-name', {}, 422),
  ],
  'a transition rule compares with what was': [
    made(),
    patched({ fixed: 'a' }),
    patched({ fixed: 'b' }, 422),
    patched({ fixed: null }),
    patched({ fixed: 'b' }),
  ],
  'a status is checked where it is written, transition rules included': [
    made(),
    ...(
      [
        [{ count: 5 }, 200],
        [{ count: 4 }, 422],
        [{ count: -1 }, 422],
        [{ count: 'x' }, 422],
        [{ more: 1 }, 200],
      ] as const
    ).map(([status, code]) => step(`PATCH ${gadgets}/g/status`, code, { type: merge, body: { status } })),
  ],
  'an update names what it does not know by fieldValidation': [
    made(),
    { ...patched({ bogus: 1 }), warnings: ['unknown field "spec.bogus"'] },
    { ...patched({ bogus: 1 }), request: `PATCH ${gadgets}/g?fieldValidation=Ignore`, warnings: [] },
    {
      ...patched({ bogus: 1 }, 422),
      request: `PATCH ${gadgets}/g?fieldValidation=Strict`,
      // The message tells the whole object, as it would be.
      pick: (body) => JSON.stringify(body).replaceAll(/Invalid value: .*?: strict/g, 'Invalid value: …: strict'),
    },
    { ...patched({ bogus: 1 }, 422), request: `PATCH ${gadgets}/g?fieldValidation=Sometimes` },
  ],
  'a new kind can be asked for as a dry run': [
    step('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All', 201, {
      body: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'CustomResourceDefinition',
        metadata: { name: 'others.contract.example.com' },
        spec: {
          group: 'contract.example.com',
          scope: 'Cluster',
          names: { plural: 'others', kind: 'Other' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
        },
      },
    }),
    step('GET /apis/apiextensions.k8s.io/v1/customresourcedefinitions/others.contract.example.com', 404),
  ],
};
