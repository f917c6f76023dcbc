import type { DataVolume, Source } from '../controller/kinds.ts';
import { ownedBy } from '../controller/owner.ts';
import type { Annotations } from './annotation.ts';
import { annotation } from './annotation.ts';

/** The sources that an importer pod fills a volume from, in CDI's order of precedence; clones and uploads are not among them. */
const importSources = ['http', 's3', 'gcs', 'registry', 'blank'] as const;

export const importSourceOf = (source: Source | undefined) =>
  importSources.find((name) => source?.[name] !== undefined);

export const volumeImportSourceName = (dataVolume: DataVolume) => `volume-import-source-${dataVolume.metadata.uid}`;

/** The object that tells the populator where a DataVolume's data comes from. */
export function volumeImportSourceFor(dataVolume: DataVolume) {
  const { source = {}, contentType, preallocation } = dataVolume.spec;
  const name = importSourceOf(source) ?? 'blank';
  return {
    metadata: {
      name: volumeImportSourceName(dataVolume),
      namespace: dataVolume.metadata.namespace,
      ownerReferences: [ownedBy(dataVolume)],
    },
    spec: {
      source: { [name]: source[name] ?? {} },
      ...(contentType ? { contentType } : {}),
      ...(preallocation === undefined ? {} : { preallocation }),
    },
  };
}

/** The source as annotations on the claim that the importer fills. */
export function sourceAnnotations(source: Source | undefined): Annotations {
  const name = importSourceOf(source) ?? 'blank';
  if (name === 'blank') return { [annotation.source]: 'none' };
  const { url = '', secretRef, certConfigMap, checksum } = source?.[name] ?? {};
  return {
    [annotation.source]: name,
    [annotation.endpoint]: url,
    ...(secretRef ? { [annotation.secretName]: secretRef } : {}),
    ...(certConfigMap ? { [annotation.certConfigMap]: certConfigMap } : {}),
    ...(checksum ? { [annotation.checksum]: checksum } : {}),
  };
}
