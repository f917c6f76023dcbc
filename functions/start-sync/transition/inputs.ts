import { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import { Secret } from '../../../shared/kinds/core/secret.ts';
import { requestDownload, type VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../../shared/kinds/resource.ts';
import { conditionOf } from '../../../shared/kubernetes/conditions.ts';

/** What an importer reads beside its source. CDI's Pod waits for it without an end, in the slot of its image. */
export interface Input {
  resource: typeof Secret | typeof ConfigMap;
  ref: ObjectReference;
  /** The field of the spec that names it. */
  field: 'secretRef' | 'certConfigMap';
  keys: readonly string[];
}

/** The keys of what was read, by `idOf`; undefined for what does not exist. */
export type Inputs = ReadonlyMap<string, Keys | undefined>;

/** By its name, whether a key can be used: a line break at its end makes a password another. No value of a Secret is kept. */
type Keys = Readonly<Record<string, boolean>>;

export const keysOf = (data: Readonly<Record<string, string>> = {}): Keys =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, !/[\r\n]$/.test(Buffer.from(value, 'base64').toString())]),
  );

export const inputReasons = ['SecretMissing', 'SecretInvalid', 'ConfigMapMissing'] as const;

export const inputsOf = ({ metadata: { namespace }, spec: { secretRef, certConfigMap } }: VMDiskImage): Input[] => {
  const named = (name: string): ObjectReference => ({ ...(namespace ? { namespace } : {}), name });
  return [
    ...(secretRef
      ? [{ resource: Secret, ref: named(secretRef), field: 'secretRef', keys: ['accessKeyId', 'secretKey'] } as const]
      : []),
    ...(certConfigMap
      ? [{ resource: ConfigMap, ref: named(certConfigMap), field: 'certConfigMap', keys: [] } as const]
      : []),
  ];
};

export const idOf = ({ resource, ref }: Pick<Input, 'resource' | 'ref'>) => `${resource.kind} ${keyOf(ref)}`;

/** It is known whether the inputs of the image exist. */
export const areRead = (image: VMDiskImage, inputs: Inputs) =>
  inputsOf(image).every((input) => inputs.has(idOf(input)));

const thenQueued = ({ metadata }: VMDiskImage) =>
  `the image is queued within ten minutes, or at once: ${requestDownload(metadata)}`;

/** Why no importer of this image would start; undefined also while that is not known. */
export function missingInput(
  image: VMDiskImage,
  inputs: Inputs,
): { reason: (typeof inputReasons)[number]; message: string } | undefined {
  for (const input of inputsOf(image)) {
    const { resource, ref, field, keys } = input;
    if (!inputs.has(idOf(input))) continue;
    const found = inputs.get(idOf(input));
    const what = `${resource.kind} ${keyOf(ref)} (${field})`;
    if (!found) {
      const given = keys.length > 0 ? ` with the keys ${keys.join(' and ')}` : '';
      const message = `Expected ${what}, found none. Create it${given}; ${thenQueued(image)}`;
      return { reason: resource.kind === Secret.kind ? 'SecretMissing' : 'ConfigMapMissing', message };
    }
    const wrong = keys.find((key) => !Object.hasOwn(found, key) || !found[key]);
    if (wrong === undefined) continue;
    const message = Object.hasOwn(found, wrong)
      ? `Expected no line break at the end of ${wrong} in ${what}, found one. Create the Secret again without it (echo -n, --from-literal); ${thenQueued(image)}`
      : `Expected the keys ${keys.join(' and ')} in ${what}, found no ${wrong}. Add it; ${thenQueued(image)}`;
    return { reason: 'SecretInvalid', message };
  }
  return undefined;
}

/** The image has Failed for want of an input. */
export const lacksInput = ({ status }: VMDiskImage) => {
  const before = conditionOf(status?.conditions, 'Ready')?.reason;
  return status?.phase === 'Failed' && inputReasons.some((reason) => reason === before);
};
