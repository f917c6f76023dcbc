import type { JWTPayload } from 'jose';
import type { ImagePublished } from '../../shared/events.ts';
import { type Issuer, identifyingClaims, type Rule } from './config.ts';
import { matchesAny } from './glob.ts';
import { Refusal } from './refusal.ts';

/**
 * The rules of the issuer that a token's claims match; throws a Refusal if none does. Only a sender that a rule names learns what
 * else the rule requires: with a public CI anyone can get a valid token.
 */
export function rulesFor({ name, rules }: Issuer, claims: JWTPayload): Rule[] {
  const fitting = rules.filter((rule) => misfits(rule, claims).length === 0);
  if (fitting.length > 0) return fitting;
  const near = rules.map((rule) => misfits(rule, claims)).find((all) => !all.some(isIdentifying));
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
      matchesAny(images, name) &&
      (namespace === undefined || matchesAny(namespaces, namespace)),
  );
  if (found) return found;
  throw new Refusal(403, `expected ${rules.map(allowance).join(', or ')}`);
}

type Misfit = readonly [claim: string, wanted: readonly string[]];

const misfits = ({ claims: wanted }: Rule, claims: JWTPayload): Misfit[] =>
  Object.entries(wanted).filter(([claim, patterns]) => !isFit(patterns, claims[claim]));

/** Lists and objects fit nothing: which of their parts would have to is not for us to guess. */
const isFit = (patterns: readonly string[], claim: unknown) =>
  ['string', 'number', 'boolean'].includes(typeof claim) && matchesAny(patterns, String(claim));

const isIdentifying = ([claim]: Misfit) => identifyingClaims.some((name) => name === claim);

const allowance = ({ types, images, namespaces }: Rule) =>
  `an event ${types.join(' or ')} for an image named ${images.join(' or ')} with ${
    namespaces.length > 0 ? `the namespace ${namespaces.join(' or ')} or none` : 'no namespace'
  }`;
