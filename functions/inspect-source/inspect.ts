import type { Context } from '../../shared/function.ts';
import { downloadOf, refusalOfAddress } from '../../shared/images/sources.ts';
import { ConfigMap } from '../../shared/kinds/core/config-map.ts';
import { Secret, textIn } from '../../shared/kinds/core/secret.ts';
import type { VMDiskImage } from '../../shared/kinds/pelotech/vm-disk-image.ts';
import type { Policy } from '../../shared/policy.ts';
import { hasStatus } from '../../shared/runtime/errors.ts';
import type { SourceAnswer, SourceRequest } from '../../shared/runtime/sources/read-source.ts';
import { unpackBeginning } from '../../shared/runtime/sources/unpack.ts';
import { isUnreadable, orUnreadable } from '../../shared/runtime/unreadable.ts';
import { type Content, contentOf, countsToRead, isCut, packedContent, packingOf, tableToRead } from './content.ts';
import type { Inspection } from './observed.ts';
import { describeAnswer, isMissing } from './status.ts';

/** What is read of a source: enough for the header of any format, and the descriptor of an ISO. */
const headBytes = 64 * 1024;

/** Inspects the source of an image, as the importer would ask for it. */
export async function inspect(context: Context, image: VMDiskImage, policy: Policy): Promise<Inspection> {
  const { spec } = image;
  if (spec.sourceType === 'registry') return { notInspected: 'a registry is not looked into' };
  const { readSource } = context;
  if (!readSource) throw new Error('expected a reader of sources, found none');
  const given = await givenBy(context, image, policy);
  if ('notInspected' in given) return given;
  const request = {
    ...given,
    url: spec.url,
    refuses: (url: string, address: string) => refusalOfAddress(policy, downloadOf(image), url, address),
  };
  const read = (range: SourceRequest['range']) => readSource({ ...request, range });
  const answer = await read({ from: 0, bytes: headBytes });
  if ('refused' in answer) return { notInspected: answer.refused };
  if ('unreachable' in answer) return answer;
  const { status, bytes, body } = answer;
  // Of an object with a first byte there is a part from there on.
  if (status === 416) return found(answer, contentOf(body, 0));
  if (status !== 200 && status !== 206) return refused(answer);
  const packing = packingOf(body);
  const content = packing ? packedContent(packing, await unpackBeginning(packing, body)) : contentOf(body, bytes);
  const cut = content.qcow2 && bytes !== undefined && (await isImageCut(content.qcow2, bytes, read));
  return { ...found(answer, content), isCut: cut ?? false };
}

type Answered = Extract<SourceAnswer, { status: number }>;

const found = ({ bytes, etag, lastModified }: Answered, content: Content) => ({
  bytes,
  etag,
  lastModified,
  content,
  isCut: false,
});

/** What the server says by an answer without the object. */
function refused({ status, body }: Answered): Inspection {
  const code = /<Code>(\w{1,64})<\/Code>/.exec(body.toString('latin1'))?.[1];
  const answer = { status, code };
  if (status >= 500 || status === 429 || status === 408) return { unreachable: describeAnswer(answer) };
  const isItsFault = code === undefined || !notItsFault.includes(code);
  if (isItsFault && ([401, 403].includes(status) || isMissing(answer))) return answer;
  return { notInspected: describeAnswer(answer) };
}

/** Errors of S3 that say something of the request, and nothing of the object. */
const notItsFault = ['RequestTimeTooSkewed', 'AuthorizationHeaderMalformed', 'RequestExpired'];

/** The keys and certificates that the importer would use. */
async function givenBy(
  { kube }: Context,
  { metadata: { namespace = '' }, spec }: VMDiskImage,
  policy: Policy,
): Promise<{ notInspected: string } | Pick<SourceRequest, 'credentials' | 'ca'>> {
  // Who writes the policy says by that where Secrets may be read; the RBAC of these namespaces follows it.
  if ((spec.secretRef ?? spec.certConfigMap) && !policy.values.imageNamespaces.includes(namespace))
    return {
      notInspected: `Secrets are read in the policy's imageNamespaces only, and ${namespace} is not one of them`,
    };
  const read = async <T>(
    resource: string,
    name: string,
    reading: Promise<T | undefined>,
  ): Promise<{ found: T | undefined } | { notInspected: string }> => {
    const one = await orUnreadable({ namespace, name }, reading);
    if (!isUnreadable(one)) return { found: one };
    if (!hasStatus(one.error, 403)) throw one.error;
    const notInspected = `inspect-source may not read ${resource} ${name} of namespace ${namespace} (bind it there as functions/inspect-source/README.md says)`;
    return { notInspected };
  };
  const [secret, map] = await Promise.all([
    spec.secretRef ? read('Secret', spec.secretRef, kube.get(Secret, { namespace, name: spec.secretRef })) : undefined,
    spec.certConfigMap
      ? read('ConfigMap', spec.certConfigMap, kube.get(ConfigMap, { namespace, name: spec.certConfigMap }))
      : undefined,
  ]);
  if (secret && 'notInspected' in secret) return secret;
  if (map && 'notInspected' in map) return map;
  const ca = Object.values(map?.found?.data ?? {});
  const certificates = ca.length > 0 ? { ca } : {};
  if (spec.secretRef === undefined) return certificates;
  const keys = secret?.found;
  const [accessKeyId, secretKey] = ['accessKeyId', 'secretKey'].map((key) => keys && textIn(keys, key));
  // start-sync fails the image for it.
  if (!accessKeyId || !secretKey) return { notInspected: `Secret ${spec.secretRef} has not both keys` };
  const as = spec.sourceType === 's3' ? 's3' : 'basic';
  return { credentials: { as, accessKeyId, secretKey }, ...certificates };
}

/** Whether the image counts clusters behind the end of the object: two reads of at most 1 KiB. */
async function isImageCut(
  qcow2: NonNullable<Content['qcow2']>,
  bytes: number,
  read: (range: SourceRequest['range']) => Promise<SourceAnswer>,
): Promise<boolean> {
  const table = tableToRead(qcow2);
  if (table.from >= bytes) return true;
  const counted = partOf(await read(table));
  const counts = counted && countsToRead(qcow2, counted, bytes);
  if (counts === undefined || counts === 'cut') return counts === 'cut';
  const behind = partOf(await read(counts));
  return behind !== undefined && isCut(behind);
}

/** What a server without ranges answers is another part. */
const partOf = (answer: SourceAnswer) => ('status' in answer && answer.status === 206 ? answer.body : undefined);
