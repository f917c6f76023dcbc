import { type Clock, delay } from '../clock.ts';
import type { ImageCheck } from '../object-store/qcow2-check.ts';
import { ImportFailure } from './failure.ts';

/** How long a conversion takes, who hears of it, and how large the volume is that it goes to. */
interface Conversion {
  capacityBytes: number;
  conversionMs?: number;
  onConversion?: (percent: number) => void;
  clock: Clock;
  signal: AbortSignal;
}

/** What happens to an image in scratch space: qemu-img looks at it, compares its size with the volume, and converts it. */
export async function convert(check: ImageCheck, request: Conversion): Promise<void> {
  const problem = check.problem();
  if (problem?.found === 'opening') {
    throw unconvertible(
      `qemu-img execution failed: qemu-img: Could not open '/scratch/tmpimage': ${problem.message}\n`,
    );
  }
  if (check.virtualBytes() > request.capacityBytes) {
    throw tooSmall(check.virtualBytes(), request.capacityBytes);
  }
  if (problem) {
    const what = 'Conversion to Raw failed: could not convert image to raw: qemu-img execution failed';
    const reading = 'qemu-img: error while reading block status at offset 0: Input/output error';
    throw unconvertible(`${what}: ${problem.message}\n${reading}\n`);
  }
  await conversion(request);
}

async function conversion({ conversionMs = 0, onConversion, clock, signal }: Conversion) {
  const steps = conversionMs > 0 ? 20 : 1;
  for (let step = 1; step <= steps; step++) {
    if (conversionMs > 0) await delay(clock, conversionMs / steps, signal);
    onConversion?.((step / steps) * 100);
  }
}

const unconvertible = (what: string) =>
  new ImportFailure(`Unable to process data: Unable to convert source data to target format: ${what}: exit status 1`);

/** The failure of an image whose disk is larger than the volume. It is not checked before the download. */
const tooSmall = (virtualBytes: number, availableBytes: number) =>
  new ImportFailure(
    `Unable to process data: Unable to convert source data to target format: virtual image size ${virtualBytes} is larger than the reported available storage ${availableBytes}. A larger PVC is required`,
  );
