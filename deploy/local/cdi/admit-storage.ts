import * as z from 'zod';
import { bytesOf } from '../controller/quantity.ts';

const Stanza = z.looseObject({
  accessModes: z.array(z.string()).default([]),
  resources: z.looseObject({ requests: z.record(z.string(), z.union([z.string(), z.number()])).optional() }).optional(),
  storageClassName: z.string().optional(),
});
type Stanza = z.infer<typeof Stanza>;

const Spec = z.looseObject({
  pvc: Stanza.nullish(),
  storage: Stanza.nullish(),
  source: z.record(z.string(), z.unknown()).nullish(),
  sourceRef: z.unknown().optional(),
});

const mebibyte = 1024 ** 2;
const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** What is wrong with the storage a DataVolume asks for, in CDI's words. */
export function storageProblem(input: Record<string, unknown>): string | undefined {
  const { pvc, storage, source, sourceRef } = Spec.parse(input);
  if (!pvc && !storage) return 'Missing Data volume PVC';
  if (pvc && storage) return 'Duplicate storage definition, both target storage and target pvc defined';
  const isClone = Boolean(sourceRef ?? source?.pvc ?? source?.snapshot);
  const stanza = pvc ?? storage ?? Stanza.parse({});
  return (
    sizeProblem(stanza, pvc ? 'PVC' : 'Storage', !pvc && isClone) ??
    classProblem(stanza) ??
    (pvc ? exactlyOneAccessMode(pvc) : undefined) ??
    unknownAccessMode(stanza)
  );
}

function sizeProblem({ resources }: Stanza, name: string, mayBeMissing: boolean) {
  const size = resources?.requests?.storage;
  if (size === undefined) return mayBeMissing ? undefined : `${name} size is missing`;
  const text = String(size);
  if (text.startsWith('-') || bytesOf(text) === 0) return `${name} size can't be equal or less than zero`;
  return bytesOf(text) < mebibyte ? `${name} size should be at least 1MiB` : undefined;
}

const classProblem = ({ storageClassName = '' }: Stanza) =>
  storageClassName.length > 253 ? 'Name cannot be longer than 253 characters' : undefined;

function exactlyOneAccessMode({ accessModes: modes }: Stanza) {
  if (modes.length === 0) return 'Required value: at least 1 access mode is required';
  return modes.length > 1 ? 'PVC multiple accessModes' : undefined;
}

function unknownAccessMode({ accessModes: modes }: Stanza) {
  const unknown = modes.find((mode) => !accessModes.includes(mode));
  if (unknown === undefined) return undefined;
  return `Unsupported value: "${unknown}": supported values: ${accessModes.map((mode) => `"${mode}"`).join(', ')}`;
}
