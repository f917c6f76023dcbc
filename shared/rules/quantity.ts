const factors: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/**
 * Bytes of a Kubernetes quantity ("24Gi", "1.5G", "12e6"), rounded up as the API server does; undefined where the text is
 * none or is negative (k8s.io/apimachinery, pkg/api/resource/quantity.go).
 */
export function bytesOf(quantity: string): number | undefined {
  const found = /^\+?(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|(n|u|m|k|M|G|T|P|E|[KMGTPE]i))?$/.exec(quantity);
  if (!found) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = found;
  const bytes = Math.ceil(Number(digits + exponent) * (factors[suffix] ?? 1));
  return Number.isFinite(bytes) ? bytes : undefined;
}
