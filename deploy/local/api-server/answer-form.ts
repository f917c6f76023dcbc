import type { IncomingMessage } from 'node:http';
import type { ApiObject } from './objects.ts';
import { StatusError } from './status-error.ts';

/** How a client wants objects: whole, as rows for printing, or only their metadata. */
export type AnswerForm = 'object' | 'table' | 'metadata';

/** The first form among the accepted ones that is JSON; throws 406 where there is none, as for a client that takes protobuf alone. */
export function answerForm({ headers }: Pick<IncomingMessage, 'headers'>): AnswerForm {
  const clauses = (headers.accept || '*/*').split(',').map((clause) => clause.trim());
  const accepted = clauses.find((clause) => /^(application\/(json|yaml|\*)|\*\/\*)(;|$)/.test(clause));
  if (!accepted) {
    throw new StatusError(406, 'NotAcceptable', 'only the following media types are accepted: application/json', {});
  }
  if (!accepted.includes('g=meta.k8s.io') || !/v=v1(;|$)/.test(accepted)) return 'object';
  if (accepted.includes('as=Table')) return 'table';
  return accepted.includes('as=PartialObjectMetadata') ? 'metadata' : 'object';
}

/** An object without all but its metadata. */
export const metadataOf = ({ metadata }: ApiObject): ApiObject => ({ ...head, metadata });

const head = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

/** What a list of them is. */
export const metadataListKind = { kind: 'PartialObjectMetadataList', apiVersion: 'meta.k8s.io/v1' };
