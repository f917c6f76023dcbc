import ipaddr from 'ipaddr.js';
import { matches, matchesElsewhere, patternOf } from '../glob.ts';
import { createdBy, type VMDiskImage } from '../kinds/pelotech/vm-disk-image.ts';
import { type AllowedSource, isValid, type Policy } from '../policy.ts';

type Spec = VMDiskImage['spec'];

/** What is to be downloaded, and where to. */
interface Download {
  namespace: string | undefined;
  spec: Pick<Spec, 'url' | 'secretRef'>;
  /** True for what a template or a publication asks for: its author need not be allowed to create images there. */
  isAskedFor: boolean;
}

export const downloadOf = ({ metadata, spec }: VMDiskImage): Download => ({
  namespace: metadata.namespace,
  spec,
  isAskedFor: isFromTemplate({ metadata }) || metadata.labels?.[createdBy] === 'preload',
});

/** An author's template made this image, and neither an admin nor a publisher has taken it over. */
export const isFromTemplate = ({ metadata }: Pick<VMDiskImage, 'metadata'>) =>
  ['ensure-vmdi', 'compose-workspace'].includes(metadata.labels?.[createdBy] ?? '');

/** What the policy lacks for a download: the line to add, and a sentence that contains it. */
interface Missing {
  line: string;
  message: string;
}

/**
 * The line of the policy that a download lacks, or undefined where it is allowed. Who may create images in an image namespace chooses any
 * public source and any Secret there; everything else needs a line of allowedSources, and for a Secret of an image namespace the line
 * that names it.
 */
export function missingLine(policy: Policy, { namespace = '', spec, isAskedFor }: Download): Missing | undefined {
  const { url, secretRef } = spec;
  const isShared = policy.values.imageNamespaces.includes(namespace);
  const lines = linesOf(policy).filter(({ pattern }) => matches(pattern, pathOf(url)));
  const isOpen = isShared && !isAskedFor;
  if (isOpen && (lines.length > 0 || isPublic(url))) return undefined;
  const secret = isShared && isAskedFor ? secretRef : undefined;
  if (lines.some((line) => secret === undefined || line.secret === secret)) return undefined;
  const elsewhere = linesOf(policy).find(({ pattern }) => matchesElsewhere(pattern, pathOf(url)));
  const found =
    lines.length > 0
      ? `none that names Secret ${secret}; if`
      : elsewhere
        ? `one for another port or scheme, ${elsewhere.pattern.text}; correct url, or, if`
        : 'none; if';
  const why = isOpen ? ', because its address is not a public one' : '';
  const line = lineFor(url, secret);
  return {
    line,
    message: `expected a line for ${redactUrl(url)} in the policy's allowedSources${why}, found ${found} it may be downloaded, add the line "${line}"`,
  };
}

/**
 * Why no function itself asks for a download at this URL, whose host has this address: for a redirect as for the URL of the image, there
 * must be what the policy asks for, and an address that is not a public one must be named by a line.
 */
export function refusalOfAddress(policy: Policy, download: Download, url: string, address: string): string | undefined {
  const isItself = URL.parse(url)?.href === URL.parse(download.spec.url)?.href;
  const missing = missingLine(policy, isItself ? download : { ...download, spec: { url } });
  if (missing) return missing.message;
  if (ipaddr.process(address).range() === 'unicast') return undefined;
  if (linesOf(policy).some(({ pattern }) => matches(pattern, pathOf(url)))) return undefined;
  return `${URL.parse(url)?.host} is at ${address}, which is not a public address, and no line of the policy's allowedSources names it`;
}

/** The line of allowedSources that allows this url and its neighbours. */
function lineFor(url: string, secret: string | undefined): string {
  const [, origin = '', bucket] = /^([^:]+:\/\/[^/]*)(?:\/([^/]+)\/.+)?/.exec(pathOf(url)) ?? [];
  return [`${origin}/${bucket === undefined ? '*' : `${bucket}/**`}`, secret].filter(Boolean).join(' ');
}

/** The lines of allowedSources, and the line that imageUrlTemplate and imageSecretRef imply. */
function linesOf({ values }: Policy): readonly AllowedSource[] {
  const { allowedSources, imageUrlTemplate, imageSecretRef } = values;
  const pattern = imageUrlTemplate && patternOf(imageUrlTemplate.replaceAll(/\{(name|version)\}/g, '*'));
  return pattern ? [...allowedSources, { pattern, secret: imageSecretRef }] : allowedSources;
}

/** The policy itself says that an image of this name is made from this url: no author chose it, but perhaps the version. */
export function isOfPolicy(policy: Policy, { metadata, spec }: Pick<VMDiskImage, 'metadata' | 'spec'>): boolean {
  const template = policy.values.imageUrlTemplate;
  if (template === undefined || !isValid(policy, 'imageUrlTemplate')) return false;
  const pattern = patternOf(template.replaceAll('{name}', metadata.name).replaceAll('{version}', '*'));
  return pattern !== undefined && matches(pattern, pathOf(spec.url));
}

/**
 * A host outside the cluster: a name with a dot that is not the cluster's, or a public address. A name may still resolve to any
 * address; NetworkPolicies hold the importers back there.
 */
function isPublic(url: string): boolean {
  // As http, so that all ways to write an address (0x7f.1, 2130706433) become one, whatever the scheme.
  const asHttp = url.replace(/^[^:]+:/, 'http:');
  const host = URL.canParse(asHttp) ? new URL(asHttp).hostname.replace(/^\[|\]$|\.$/g, '') : '';
  // `URL` has made four decimal numbers of every IPv4 address. ipaddr's own check throws inside: 30 µs for each queued image.
  if (/^(\d+\.){3}\d+$|:/.test(host)) return ipaddr.process(host).range() === 'unicast';
  return host.includes('.') && !/\.(localhost|local|internal|svc)$/.test(host);
}

/** Host and path as a client resolves them: `https://h/images/../private` asks for `https://h/private`. */
const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).href : url).replace(/[?#].*$/s, '');

/** A URL as it may be published: what follows a "?", "#" or ";" can be a signature or the token of a session. */
export const redactUrl = (url: string) => url.replace(/[?#;].*$/s, '');
