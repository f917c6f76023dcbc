import type { Action } from '../../../shared/actions.ts';
import type { FunctionDeclaration } from '../../../shared/function.ts';
import { VMDiskImage } from '../../../shared/kinds/pelotech/vm-disk-image.ts';
import type { KubernetesObject } from '../../../shared/kinds/resource.ts';
import type { Violation } from './judges.ts';

/** A mistake in the functions, made on purpose, that a judge has to find. */
interface Mistake {
  name: string;
  judge: Violation['judge'];
  in: string;
  /** The decision in place of the right one; the machines of the reconcile and a Secret of the victim are at hand. */
  decide(right: () => readonly Action[], machines: readonly KubernetesObject[], secret: string): readonly Action[];
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const specOf = (machine: KubernetesObject | undefined) =>
  (machine as { spec?: { name?: unknown; users?: { gecos?: unknown }[] } } | undefined)?.spec;

export const mistakes: readonly Mistake[] = [
  {
    name: 'a decision reads a field of what is not there',
    judge: 'crash',
    in: 'ensure-vmdi',
    decide: (right, machines) => {
      for (const machine of machines) text((machine.metadata.annotations as Record<string, string>).a);
      return right();
    },
  },
  {
    name: 'an image is made in the namespace of the victim',
    judge: 'write',
    in: 'ensure-vmdi',
    decide: (right) =>
      right().map((action) =>
        action.do === 'create' && action.resource === VMDiskImage
          ? { ...action, object: { ...action.object, metadata: { ...action.object.metadata, namespace: 'victim' } } }
          : action,
      ),
  },
  {
    name: 'a decision takes long for a machine',
    judge: 'block',
    in: 'ensure-vmdi',
    decide: (right, machines) => {
      const from = process.threadCpuUsage();
      while (machines.length > 0 && process.threadCpuUsage(from).user < 150_000);
      return right();
    },
  },
  {
    name: 'a message quotes a Secret',
    judge: 'secret',
    in: 'ensure-vmdi',
    decide: (right, [machine], secret) => [
      ...right(),
      ...(machine
        ? [
            {
              do: 'recordEvent',
              about: machine,
              type: 'Warning',
              reason: 'UserRenamed',
              message: secret,
              once: 'told',
            } as const,
          ]
        : []),
    ],
  },
  {
    name: 'cloud-init is put together as text',
    judge: 'yaml',
    in: 'provision-vm',
    decide: (right, [machine]) =>
      right().map((action) => {
        if (action.do !== 'create' || action.resource.kind !== 'Secret') return action;
        const { name, users = [] } = specOf(machine) ?? {};
        const lines = users.map(({ gecos }) => `  - gecos: ${text(gecos)}`);
        const userdata = Buffer.from(`#cloud-config\nhostname: ${text(name)}\nusers:\n${lines.join('\n')}\n`);
        return { ...action, object: { ...action.object, data: { userdata: userdata.toString('base64') } } };
      }),
  },
];

/** The machines that a reconcile of ensure-vmdi or provision-vm observed. */
const machinesIn = (observed: unknown): KubernetesObject[] => {
  const { machine, machines = [] } = observed as { machine?: KubernetesObject; machines?: KubernetesObject[] };
  return machine ? [machine] : machines;
};

/** The function as declared, or with the mistake of that name in its decision. */
export function planted(
  name: string | undefined,
  secret: string,
  declaration: FunctionDeclaration,
): FunctionDeclaration {
  const mistake = mistakes.find((one) => one.name === name);
  if (mistake?.in !== declaration.name) return declaration;
  const decide = (observed: unknown) => [
    ...mistake.decide(() => declaration.decide(observed), machinesIn(observed), secret),
  ];
  return { ...declaration, decide };
}
