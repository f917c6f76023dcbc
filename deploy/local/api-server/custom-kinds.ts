import { jsonPath } from './json-path.ts';
import type { Column, Kind, ScalePaths } from './kind.ts';
import { type ApiObject, isJsonObject, type JsonObject } from './objects.ts';
import { compileSchema } from './schema.ts';

/** The parts of a CustomResourceDefinition that say what is served. */
interface Definition {
  group: string;
  scope: 'Namespaced' | 'Cluster';
  names: {
    plural: string;
    kind: string;
    singular?: string;
    listKind?: string;
    shortNames?: string[];
    categories?: string[];
  };
  versions: DefinedVersion[];
}

interface DefinedVersion {
  name: string;
  served: boolean;
  storage: boolean;
  schema?: { openAPIV3Schema?: JsonObject };
  subresources?: { status?: unknown; scale?: DefinedScale };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
}

interface DefinedScale {
  specReplicasPath: string;
  statusReplicasPath: string;
  labelSelectorPath?: string;
}

interface PrinterColumn {
  name: string;
  type: Column['type'];
  jsonPath: string;
  format?: string;
  description?: string;
  priority?: number;
}

export const definitionOf = (crd: ApiObject) => crd.spec as Definition;

/** The kinds that a CustomResourceDefinition makes served, one for each served version. */
export function customKinds(crd: ApiObject): Kind[] {
  const definition = definitionOf(crd);
  const storageVersion = definition.versions.find((version) => version.storage)?.name ?? '';
  return definition.versions
    .filter((version) => version.served)
    .map((version) => customKind(definition, version, storageVersion));
}

function customKind({ group, scope, names }: Definition, version: DefinedVersion, storageVersion: string): Kind {
  const schema = version.schema?.openAPIV3Schema ?? {};
  return {
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    singular: names.singular || names.kind.toLowerCase(),
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    namespaced: scope === 'Namespaced',
    custom: true,
    storageVersion,
    statusSubresource: isJsonObject(version.subresources?.status),
    ...(version.subresources?.scale && { scale: scalePaths(version.subresources.scale) }),
    hasGeneration: true,
    replacesUnconditionally: false,
    createsOnUpdate: false,
    returnsDeleted: false,
    nameRule: 'subdomain',
    selectableFields: (version.selectableFields ?? []).map((field) => field.jsonPath.replace(/^\./, '')),
    columns: (version.additionalPrinterColumns ?? [ageColumn]).map(columnOf),
    schema: compileSchema(schema),
    openApiSchema: schema,
  };
}

const partsOf = (path: string) => path.split('.').filter(Boolean);

const scalePaths = ({ specReplicasPath, statusReplicasPath, labelSelectorPath }: DefinedScale): ScalePaths => ({
  wanted: partsOf(specReplicasPath),
  found: partsOf(statusReplicasPath),
  selector: partsOf(labelSelectorPath ?? ''),
});

const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function columnOf({ jsonPath: path, ...column }: PrinterColumn): Column {
  const read = jsonPath(path);
  const description = column.description || `Custom resource definition column (in JSONPath format): ${path}`;
  return { ...column, description, cell: (object) => cellOf(read(object), column.type) };
}

function cellOf(values: unknown[], type: Column['type']): unknown {
  const [value] = values;
  if (value === undefined || value === null) return null;
  if (type === 'string') {
    const text = (part: unknown) => (typeof part === 'string' ? part : JSON.stringify(part));
    return values.length === 1 ? text(value) : values.map(text).join(',');
  }
  return value;
}
