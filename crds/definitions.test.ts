import { describe, expect, test } from 'vitest';
import { readManifests } from '../deploy/manifests.ts';

interface Described {
  description?: string;
}
interface Definition {
  metadata: { name: string; labels?: Record<string, string> };
  spec: {
    versions: {
      additionalPrinterColumns: { name: string; jsonPath: string; priority?: number }[];
      schema: { openAPIV3Schema: Described & { properties: { spec: Described; status: Described } } };
    }[];
  };
}

const definitions = (await readManifests('crds')) as unknown as Definition[];

describe.each(definitions.map((definition) => [definition.metadata.name, definition] as const))('%s', (_, found) => {
  const [version] = found.spec.versions;
  const schema = version?.schema.openAPIV3Schema;

  test('kubectl explain describes the kind, its spec and its status', () => {
    for (const described of [schema, schema?.properties.spec, schema?.properties.status]) {
      expect(described?.description).toMatch(/^[A-Z].{20,}\.$/);
    }
  });

  test('is found by the label of everything of ours', () => {
    expect(found.metadata.labels).toMatchObject({ 'app.kubernetes.io/part-of': 'ot-functions' });
  });
});

test.each(['vmdiskimages', 'virtualmachines'])(
  '%s whose status has no phase for it show in a column that they are deleted',
  (plural) => {
    const found = definitions.find(({ metadata }) => metadata.name === `${plural}.pelotech.ot`);
    const columns = found?.spec.versions[0]?.additionalPrinterColumns ?? [];
    expect(columns.filter(({ priority = 0 }) => priority === 0)).toContainEqual(
      expect.objectContaining({ name: 'Terminating', jsonPath: '.metadata.deletionTimestamp' }),
    );
  },
);
