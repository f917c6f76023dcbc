import { expect, test } from 'vitest';
import { readManifests } from '../../deploy/manifests.ts';

interface Definition {
  kind: string;
  metadata: { name: string };
  spec: { versions: { additionalPrinterColumns?: { jsonPath: string }[] }[] };
}

// Gained: the signature of a presigned URL, for who sees the screen or the log of a person who runs `kubectl get -o wide`.
test('a table of kubectl shows no URL of a spec, and no password', async () => {
  const definitions = (await readManifests('crds')) as unknown as Definition[];
  const columns = definitions.flatMap(({ spec, metadata }) =>
    spec.versions.flatMap(({ additionalPrinterColumns = [] }) =>
      additionalPrinterColumns.map(({ jsonPath }) => `${metadata.name} ${jsonPath}`),
    ),
  );
  expect(columns.length).toBeGreaterThan(20);
  expect(columns.filter((path) => /url|password|passwd|secret/i.test(path))).toEqual([]);
});
