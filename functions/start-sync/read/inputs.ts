import { distinct } from '../../../shared/distinct.ts';
import type { ConfigMap } from '../../../shared/kinds/core/config-map.ts';
import type { Secret } from '../../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import { type Input, type Inputs, idOf, inputsOf, keysOf } from '../transition/inputs.ts';
import type { Reader } from './reader.ts';

/** The limit of inputs that are read at once; an image whose inputs were not read gets no slot. */
const mostInputs = 100;

/** Reads each input of the images once; a failed read concerns the images that name what was not read. */
export async function readInputs({ kube, inputFailures }: Reader, images: readonly VMDiskImage[]): Promise<Inputs> {
  const inputs = new Map<string, ReturnType<typeof keysOf> | undefined>();
  const read = async (input: Input) => {
    const found = await kube.get<Secret | ConfigMap>(input.resource, input.ref);
    inputs.set(idOf(input), found && keysOf(found.data));
  };
  await Promise.all(
    distinct(images.flatMap(inputsOf), idOf)
      .slice(0, mostInputs)
      .map((input) =>
        read(input).catch((error: unknown) =>
          inputFailures.push({
            error,
            concerns: (image) => inputsOf(image).some((one) => idOf(one) === idOf(input)),
          }),
        ),
      ),
  );
  return inputs;
}
