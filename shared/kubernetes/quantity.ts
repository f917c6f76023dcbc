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
  const bytes = amountOf(quantity);
  return bytes === undefined ? undefined : Math.ceil(bytes);
}

export const isLarger = (one: string, other: string) => (bytesOf(one) ?? 0) > (bytesOf(other) ?? 0);

/** The amount of a quantity of anything, "128m" of a core included; undefined for any other text. */
export function amountOf(quantity: string): number | undefined {
  const found = /^\+?(\d+\.?\d*|\.\d+)(?:([eE][+-]?\d+)|(n|u|m|k|M|G|T|P|E|[KMGTPE]i))?$/.exec(quantity);
  if (!found) return undefined;
  const [, digits = '', exponent = '', suffix = ''] = found;
  const amount = Number(digits + exponent) * (factors[suffix] ?? 1);
  return Number.isFinite(amount) ? exact(amount) : undefined;
}

/** 700 thousandths are 0.7 and not 0.7000000000000001, as they would come out of a multiplication. */
const exact = (amount: number) => (Number.isInteger(amount) ? amount : Number(amount.toPrecision(15)));

/** Bytes as a quantity that a person reads: "24Gi", "1.5Gi"; never more than there are. */
export function formatQuantity(bytes: number): string {
  const [suffix, factor] = binary.find(([, least]) => bytes >= least) ?? ['', 1];
  return `${Math.floor((bytes / factor) * 10) / 10}${suffix}`;
}

const binary = (['Ti', 'Gi', 'Mi', 'Ki'] as const).map((suffix) => [suffix, factors[suffix] ?? 1] as const);
