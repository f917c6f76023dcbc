import { bytesOf as parsed } from '../../../shared/kubernetes/quantity.ts';

const binary = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];

/** Bytes of a Kubernetes quantity such as `24Gi` or `1.5G`, rounded up; throws for an invalid one. */
export function bytesOf(quantity: string): number {
  const bytes = parsed(quantity);
  if (bytes === undefined) throw new Error(`expected a quantity such as 24Gi, found ${JSON.stringify(quantity)}`);
  return bytes;
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
