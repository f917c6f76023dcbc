import { hash } from 'node:crypto';

/** A text as a digest of eight letters. */
export const shortHash = (text: string) => hash('sha256', text).slice(0, 8);

/** A name that is the same for the same parts, for objects that are never looked up by name (Events). */
export const hashedName = (prefix: string, ...parts: string[]) =>
  `${prefix.slice(0, 200)}.${hash('sha256', parts.join('\u0000')).slice(0, 16)}`;

/** Digest of any plain data, for noticing that it changed. */
export const digestOf = (value: unknown) => hash('sha256', JSON.stringify(value)).slice(0, 32);

/** True for what the API server takes for the name of an object (RFC 1123 subdomain). */
export const isObjectName = (name: string) =>
  name.length <= 253 && /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name);

/** True for what the API server takes for the value of a label. */
export const isLabelValue = (text: string | undefined): text is string =>
  text !== undefined && /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/.test(text);
