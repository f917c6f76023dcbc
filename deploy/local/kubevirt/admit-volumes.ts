import * as z from 'zod';

const SecretName = z.looseObject({ name: z.string().default('') }).nullish();

const CloudInit = z.looseObject({
  secretRef: SecretName,
  userData: z.string().default(''),
  userDataBase64: z.string().default(''),
  networkDataSecretRef: SecretName,
  networkData: z.string().default(''),
  networkDataBase64: z.string().default(''),
});
type CloudInit = z.infer<typeof CloudInit>;

const Volumes = z.array(z.looseObject({ name: z.string().default('') })).default([]);

/** Bytes of user data, and of network data, that may stand in a machine itself. */
const inlineLimit = 2048;

/** What is wrong with a machine's volumes, in KubeVirt's words. */
export const volumeProblems = ({ volumes }: Record<string, unknown>): string[] =>
  Volumes.parse(volumes ?? []).flatMap(({ name: _, ...sources }, index) => {
    const at = `spec.template.spec.volumes[${index}]`;
    const given = Object.entries(sources).filter(([, source]) => source !== undefined && source !== null);
    return [
      ...(given.length === 1 ? [] : [`${at} must have exactly one source type set`]),
      ...given.flatMap(([type, source]) => sourceProblems(at, type, source)),
    ];
  });

function sourceProblems(at: string, type: string, source: unknown): string[] {
  if (type === 'dataVolume' && !z.looseObject({ name: z.string().min(1) }).safeParse(source).success)
    return ["DataVolume 'name' must be set"];
  if (type !== 'cloudInitNoCloud' && type !== 'cloudInitConfigDrive') return [];
  return cloudInitProblems(`${at}.${type}`, CloudInit.parse(source));
}

function cloudInitProblems(at: string, cloudInit: CloudInit): string[] {
  const { secretRef, userData, userDataBase64, networkDataSecretRef, networkData, networkDataBase64 } = cloudInit;
  const user = [secretRef?.name, userData, userDataBase64].filter(Boolean).length;
  const network = [networkDataSecretRef?.name, networkData, networkDataBase64].filter(Boolean).length;
  const userBytes = bytesOf(userData, userDataBase64);
  const networkBytes = bytesOf(networkData, networkDataBase64);
  return [
    ...(user > 1 ? [`${at} must have only one userdatasource set.`] : []),
    ...(userBytes > inlineLimit
      ? [`${at} userdata exceeds ${inlineLimit} byte limit. Should use UserDataSecretRef for larger data.`]
      : []),
    ...(network > 1 ? [`${at} must have only one networkdata source set.`] : []),
    ...(networkBytes > inlineLimit
      ? [`${at} networkdata exceeds ${inlineLimit} byte limit. Should use NetworkDataSecretRef for larger data.`]
      : []),
    ...(user === 0 && network === 0
      ? [`${at} must have at least one userdatasource or one networkdatasource set.`]
      : []),
  ];
}

const bytesOf = (text: string, base64: string) => Buffer.byteLength(text) || Buffer.from(base64, 'base64').length;
