import type { Environment } from '@marcbachmann/cel-js';

/** Adds of Kubernetes' quantity library what compares: `quantity('10Gi').isGreaterThan(quantity('1G'))`. */
export function addQuantities(environment: Environment): void {
  const type = 'kubernetes.Quantity';
  const compare = (a: Quantity, b: Quantity) => (a.nano < b.nano ? -1n : a.nano > b.nano ? 1n : 0n);
  environment
    .registerType(type, { ctor: Quantity })
    .registerFunction(`quantity(string): ${type}`, (text: string) => {
      const nano = parseNano(text);
      if (nano === undefined) {
        throw new Error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'");
      }
      return new Quantity(nano);
    })
    .registerFunction('isQuantity(string): bool', (text: string) => parseNano(text) !== undefined)
    .registerFunction(`${type}.compareTo(${type}): int`, compare)
    .registerFunction(`${type}.isGreaterThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nano > b.nano)
    .registerFunction(`${type}.isLessThan(${type}): bool`, (a: Quantity, b: Quantity) => a.nano < b.nano)
    .registerOperator(`${type} == ${type}`, (a: Quantity, b: Quantity) => a.nano === b.nano);
}

/** An amount in billionths, finer than which no quantity is. */
class Quantity {
  readonly nano: bigint;
  constructor(nano: bigint) {
    this.nano = nano;
  }
}

const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, bigint> = { Ki: 1n, Mi: 2n, Gi: 3n, Ti: 4n, Pi: 5n, Ei: 6n };
// That the digits may be missing is the real parser's doing.
const QUANTITY = /^(?=.)([+-]?)(\d*)(?:\.(\d*))?(?:(n|u|m|k|M|G|T|P|E|)|([KMGTPE]i)|[eE]([+-]?\d{1,4}))$/;

function parseNano(text: string): bigint | undefined {
  const match = QUANTITY.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', decimal = '', binary, exponent] = match;
  const digits = BigInt(`${whole}${fraction}` || '0') * (binary ? 1024n ** (BINARY[binary] ?? 0n) : 1n);
  const power = 9 + (exponent === undefined ? (DECIMAL[decimal] ?? 0) : Number(exponent)) - fraction.length;
  const nano = power >= 0 ? digits * 10n ** BigInt(power) : divideUp(digits, 10n ** BigInt(-power));
  return sign === '-' ? -nano : nano;
}

/** What is finer than a billionth is rounded away from zero. */
const divideUp = (value: bigint, by: bigint) => (value + by - 1n) / by;
