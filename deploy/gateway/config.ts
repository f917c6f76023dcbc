import { parseDocument } from 'yaml';
import * as z from 'zod';
import { ImagePublished, imagePublished } from '../../shared/events.ts';

/** The events that may pass, each with the schema of its data: what has no schema cannot be allowed. */
export const eventSchemas = { [imagePublished]: ImagePublished } as const;

/** Signatures by a private key only: with a shared secret, or none, anyone who can check a token could create one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const;

/** Claims that identify the owner of a pipeline; without one of them a rule would allow every user of the same CI. */
export const identifyingClaims = [
  'sub',
  'repository',
  'repository_id',
  'repository_owner',
  'repository_owner_id',
  'project_path',
  'project_id',
  'namespace_path',
  'namespace_id',
] as const;

const word = z
  .string()
  .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'expected a word of lower-case letters, digits and "-"');

/** Numbers and booleans need no quotes: claims are compared as text. */
const pattern = z.union([z.string().min(1).max(512), z.number(), z.boolean()]).transform(String);
const patterns = z.union([pattern.transform((one) => [one]), z.array(pattern).min(1)]);

const httpsUrl = z.string().refine((text) => {
  const { protocol, search, hash, username } = URL.parse(text) ?? {};
  return protocol === 'https:' && !search && !hash && !username;
}, 'expected an https:// URL without user, query and fragment');

const Rule = z.strictObject({
  name: word,
  claims: z
    .record(z.string(), patterns)
    .refine(
      isSomebodys,
      `expected one claim that says whose pipeline it is (${identifyingClaims.join(', ')}), with no "*" in the owner's name`,
    ),
  types: z
    .array(z.enum(Object.keys(eventSchemas) as [keyof typeof eventSchemas]))
    .min(1)
    .default([imagePublished]),
  images: patterns,
  namespaces: patterns.default([]),
});

const Issuer = z.strictObject({
  name: word,
  issuer: httpsUrl,
  audience: z.string().min(1),
  jwksUri: httpsUrl.optional(),
  caFile: z.string().optional(),
  algorithms: z.array(z.enum(algorithms)).min(1).default(['RS256', 'ES256']),
  rules: z.array(Rule).min(1),
});

const Config = z.strictObject({
  requestsPerMinute: z.int().positive().default(60),
  issuers: z
    .array(Issuer)
    .min(1)
    .refine((all) => new Set(all.map(({ issuer }) => issuer)).size === all.length, 'expected each issuer once'),
});

/** What one rule lets in: tokens whose claims all fit may publish these images, in no or these namespaces. */
export type Rule = z.infer<typeof Rule>;
/** Who signs tokens, for whom, and which of them may do what. */
export type Issuer = z.infer<typeof Issuer>;
/** The gateway's configuration. */
export type Config = z.infer<typeof Config>;

/** Reads the configuration from YAML; throws with every fault there is. */
export function parseConfig(text: string): Config {
  const document = parseDocument(text);
  const parsed = document.errors.length === 0 ? Config.safeParse(document.toJS()) : undefined;
  if (parsed?.success) return parsed.data;
  const faults = parsed
    ? parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the file'}: ${message}`)
    : document.errors.map(({ message }) => message);
  throw new Error(`expected a configuration of the gateway, found: ${faults.join('; ')}`);
}

function isSomebodys(claims: Record<string, string[]>): boolean {
  return identifyingClaims.some((name) => claims[name]?.every((value) => namesOwner(name, value)) ?? false);
}

/** The owner comes first (`labs/*`), in a subject second (`repo:labs/*:ref:refs/tags/*`). */
const namesOwner = (claim: string, value: string) =>
  !value.includes('*') || (claim === 'sub' ? /^[^:/*]+[:/][^:/*]+[:/]/ : /^[^:/*]+[:/]/).test(value);
