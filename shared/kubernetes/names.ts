import { hash } from 'node:crypto';

/** A text as a digest of eight letters. */
export const shortHash = (text: string) => hash('sha256', text).slice(0, 8);

/** What the DataVolume of an attempt is called: a function of (uid, revision, attempt), so that nothing is made twice. */
export const dataVolumeName = (image: { name: string; uid: string }, revision: number, attempt: number) =>
  `${image.name}-${shortHash(image.uid)}-r${revision}-a${attempt}`;

/** What the snapshot of a revision is called. */
export const snapshotName = (image: { name: string; uid: string }, revision: number) =>
  `${image.name}-${shortHash(image.uid)}-r${revision}`;

/** The image that a DataVolume, claim or snapshot of ours was made for, by its name; undefined for anybody else's. */
export const imageNameOf = (child: string) => /^(.+)-[0-9a-f]{8}-r\d+(-a\d+)?$/.exec(child)?.[1];

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
