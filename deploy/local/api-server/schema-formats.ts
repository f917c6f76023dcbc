import { isIPv4, isIPv6 } from 'node:net';
import { cidrIn } from '../cidr.ts';

const matches = (pattern: RegExp) => (value: string) => pattern.test(value);

const uuid = (third: string, fourth: string) =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${third}-?${fourth}-?[0-9a-f]{12}$`, 'i'));

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';

/** Whether a string has a format, for those that CustomResourceDefinitions check; any other (int32, int64, double …) is only a hint. */
export const formats: Record<string, (value: string) => boolean> = {
  bsonobjectid: matches(/^[0-9a-f]{24}$/i),
  byte: matches(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  cidr: (value) => cidrIn(value) !== undefined,
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && isDay(value),
  'date-time': isDateTime,
  datetime: isDateTime,
  duration: matches(/^(?:[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0|\d+\s*[a-zµμ]+)$/i),
  email: matches(/^(?:[^<>]*<)?[^\s@<>]+@[^\s@<>]+>?$/),
  hexcolor: matches(/^#?([0-9a-f]{3}|[0-9a-f]{6})$/i),
  hostname: (value) =>
    value.length <= 255 &&
    value.split('.').every((part) => /^[\p{L}\p{S}\d]([-\p{L}\p{S}\d]{0,61}[\p{L}\p{S}\d])?$/u.test(part)),
  ipv4: isIPv4,
  ipv6: isIPv6,
  'k8s-long-name': (value) => value.length <= 253 && new RegExp(`^${LABEL}(\\.${LABEL})*$`).test(value),
  'k8s-short-name': (value) => value.length <= 63 && new RegExp(`^${LABEL}$`).test(value),
  mac: matches(/^(?:[0-9a-f]{2}([:-]))(?:[0-9a-f]{2}\1){4}[0-9a-f]{2}$|^(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}$/i),
  password: () => true,
  uri: isRequestURI,
  uuid: uuid('[0-9a-f]{4}', '[0-9a-f]{4}'),
  uuid3: uuid('3[0-9a-f]{3}', '[0-9a-f]{4}'),
  uuid4: uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'),
};

function isDay(date: string): boolean {
  const parsed = new Date(`${date}T00:00:00Z`);
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString().startsWith(date);
}

function isDateTime(value: string): boolean {
  const written = /^(\d{4}-\d\d-\d\d)[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.exec(value);
  return written !== null && isDay(written[1] ?? '') && !Number.isNaN(Date.parse(value));
}

/** As Go's url.ParseRequestURI: absolute, or a path from the root. */
function isRequestURI(value: string): boolean {
  return value.startsWith('/') ? !/[\s\p{Cc}]/u.test(value) : URL.canParse(value) && !/[\s\p{Cc}]/u.test(value);
}
