import * as z from 'zod';
import { type Context, defineFunction, on, subjectsOf, type Wake } from '../../shared/function.ts';
import { ConfigMap } from '../../shared/resources/core/config-map.ts';
import { type VirtualMachine as Machine, VirtualMachine } from '../../shared/resources/pelotech/virtual-machine.ts';
import { VMDiskImage } from '../../shared/resources/pelotech/vm-disk-image.ts';
import { keyOf, type ObjectReference } from '../../shared/resources/resource.ts';
import { diskImageFact } from '../../shared/rules/image-status.ts';
import { operatorNamespace } from '../../shared/rules/operator.ts';
import { parsePolicy, policyName } from '../../shared/rules/policy.ts';
import { machinesNaming } from '../../shared/runtime/machines-naming.ts';
import { decide, type Observed } from './decide.ts';

/** The image that a domain event is about. */
const ImageFact = z.object({ namespace: z.string(), name: z.string() });

/** Tells every image who uses it, and keeps each machine until its image knows that it goes. */
export default defineFunction<Observed>({
  name: 'count-refs',
  on: [
    on.changed(VirtualMachine, { source: 'pelotech' }),
    on.cameOrWent(VMDiskImage, { source: 'pelotech' }),
    // A new image is counted when it has been taken in, not before; one that nobody uses when it has come to its end.
    on.event(diskImageFact('queued'), ImageFact),
    on.event(diskImageFact('succeeded'), ImageFact),
    on.event(diskImageFact('failed'), ImageFact),
    on.changed(ConfigMap, { source: 'own', name: policyName }),
    on.audit(),
  ],
  may: [
    { resource: VirtualMachine, verbs: ['get', 'list', 'patch'] },
    { resource: VMDiskImage, verbs: ['get', 'list'] },
    { resource: VMDiskImage, subresource: 'status', verbs: ['patch'] },
    { resource: ConfigMap, verbs: ['get'], namespace: 'own' },
  ],
  scale: 'zero',
  observe,
  decide,
});

type Reader = Context['kube'];
type Counted = Pick<Observed, 'image' | 'machines'>;

async function observe({ kube, nowMs, refusals }: Context, wake: Wake): Promise<Observed[]> {
  const policy = parsePolicy(await kube.get(ConfigMap, { namespace: operatorNamespace, name: policyName }));
  const isAboutAll = wake.audit || subjectsOf(wake, ConfigMap).length > 0;
  const counted = isAboutAll ? await countAll(kube) : await countSome(kube, await namedImages(kube, wake));
  return counted.map((one) => ({ ...one, policy, nowMs, refusals }));
}

/** Every image and every machine. */
async function countAll(kube: Reader): Promise<Counted[]> {
  const images = new Map((await kube.list(VMDiskImage)).map((image) => [keyOf(image.metadata), image]));
  const machines = Map.groupBy(await kube.list(VirtualMachine), ({ spec }) => keyOf(spec.vmDiskImageRef));
  return [...new Set([...images.keys(), ...machines.keys()])].map((key) => ({
    image: images.get(key),
    machines: machines.get(key) ?? [],
  }));
}

/** Each image before its machines: a count is written only to the image as it was before they were counted. */
async function countSome(kube: Reader, refs: readonly ObjectReference[]): Promise<Counted[]> {
  const images = await Promise.all(refs.map((ref) => kube.get(VMDiskImage, ref)));
  const machines = await machinesNaming(kube, refs);
  return refs.map((_, index) => ({ image: images[index], machines: machines[index] ?? [] }));
}

/** The images that events are about, or that the machines name which events are about. */
async function namedImages(kube: Reader, wake: Wake): Promise<ObjectReference[]> {
  const machines = await machinesNamed(kube, subjectsOf(wake, VirtualMachine));
  const told = wake.messages.map(({ data }) => data as z.infer<typeof ImageFact>);
  const refs = [...subjectsOf(wake, VMDiskImage), ...told, ...machines.map(({ spec }) => spec.vmDiskImageRef)];
  return [...new Map(refs.map(({ namespace, name }) => [keyOf({ namespace, name }), { namespace, name }])).values()];
}

/** Of so many machines of one namespace each is looked up by its name; of more, all of the namespace in one list. */
const mostLookUps = 10;

async function machinesNamed(kube: Reader, refs: readonly ObjectReference[]): Promise<Machine[]> {
  const found = await Promise.all(
    [...Map.groupBy(refs, ({ namespace }) => namespace ?? '')].map(([namespace, ofOne]) =>
      ofOne.length > mostLookUps
        ? kube.list(VirtualMachine, { namespace })
        : Promise.all(ofOne.map((ref) => kube.get(VirtualMachine, ref))),
    ),
  );
  return found.flat().filter((machine) => machine !== undefined);
}
