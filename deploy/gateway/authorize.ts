import type { JWTPayload } from 'jose';
import type { ImagePublished } from '../../shared/events.ts';
import { matchesAny } from '../../shared/glob.ts';
import { type Issuer, identifyingClaims, type Rule } from './config.ts';
import { Refusal } from './refusal.ts';

/**
 * The rules of the issuer that a token's claims match; throws a Refusal if none does. Only a sender that a rule names learns what
 * else the rule requires: with a public CI anyone can get a valid token.
 */
export function rulesFor({ name, rules }: Issuer, claims: JWTPayload): Rule[] {
  const matching = rules.filter((rule) => mismatches(rule, claims).length === 0);
  if (matching.length > 0) return matching;
  const near = rules.map((rule) => mismatches(rule, claims)).find((all) => !all.some(isIdentifying));
  const expected = near
    ? near.map(([claim, wanted]) => `${claim} ${wanted.join(' or ')}`).join(', ')
    : `claims that a rule of the issuer ${name} names; the admin of the gateway adds them`;
  throw new Refusal(403, `expected a token with ${expected}`);
}

/** The first of these rules that allows this image; throws a Refusal if none does. */
export function ruleAllowing(rules: readonly Rule[], type: string, { name, namespace }: ImagePublished): Rule {
  const found = rules.find(
    ({ types, images, namespaces }) =>
      types.some((allowed) => allowed === type) &&
      matchesGlob(images, name) &&
      (namespace === undefined || matchesGlob(namespaces, namespace)),
  );
  if (found) return found;
  throw new Refusal(403, `expected ${rules.map(allowance).join(', or ')}`);
}

/** A star never reaches into the next part of a name. */
export const matchesGlob = (patterns: readonly string[], value: string) => matchesAny(patterns, value, '/:');

type Mismatch = readonly [claim: string, wanted: readonly string[]];

const mismatches = ({ claims: wanted }: Rule, claims: JWTPayload): Mismatch[] =>
  Object.entries(wanted).filter(([claim, patterns]) => !isMatch(patterns, claims[claim]));

/** Lists and objects fit nothing: which of their parts would have to is not for us to guess. */
const isMatch = (patterns: readonly string[], claim: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof claim) && matchesGlob(patterns, String(claim));

const isIdentifying = ([claim]: Mismatch) => identifyingClaims.some((name) => name === claim);

const allowance = ({ types, images, namespaces }: Rule) =>
  `an event ${types.join(' or ')} for an image named ${images.join(' or ')} with ${
    namespaces.length > 0 ? `the namespace ${namespaces.join(' or ')} or none` : 'no namespace'
  }`;
