const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const decimal = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/** Bytes of a Kubernetes quantity such as `24Gi` or `1.5G`, rounded up; throws for an invalid one. */
export function bytesOf(quantity: string): number {
  const [, digits, suffix = ''] = /^(\d+(?:\.\d+)?)(m|[KMGTPE]i|[kMGTPE])?$/.exec(quantity) ?? [];
  if (digits === undefined) throw new Error(`expected a quantity such as 24Gi, found ${JSON.stringify(quantity)}`);
  if (suffix === 'm') return Math.ceil(Number(digits) / 1000);
  const factor = suffix.endsWith('i') ? 1024 ** binary.indexOf(suffix) : 1000 ** decimal.indexOf(suffix);
  return Math.ceil(Number(digits) * factor);
}

/** The canonical binary quantity: the largest suffix that needs no fraction. */
export function quantityOf(bytes: number): string {
  let value = bytes;
  let step = 0;
  while (value !== 0 && value % 1024 === 0 && step < binary.length - 1) {
    value /= 1024;
    step++;
  }
  return `${value}${binary[step]}`;
}
