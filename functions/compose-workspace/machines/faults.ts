import { differencesOf } from '../../../shared/images/new-image.ts';
import type { WorkspaceMachine, WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { duplicatesOf } from '../names.ts';

/** Contradicting templates of one image, and duplicate logins. */
export function machineFaults({ vms = [] }: WorkspaceSpec): string[] {
  const groups = [...Map.groupBy(vms, ({ backingVMDiskImage }) => backingVMDiskImage)];
  return [
    ...groups.flatMap(([image, machines]) => differingTemplates(image, machines)),
    ...vms.flatMap(({ name, users = [] }) =>
      duplicatesOf(users.map((user) => user.name)).map(
        (user) => `vms ${name}: expected each user once, found ${user} twice.`,
      ),
    ),
  ];
}

function differingTemplates(image: string, machines: readonly WorkspaceMachine[]): string[] {
  const [first, ...others] = machines.filter(({ vmDiskImageTemplate }) => vmDiskImageTemplate !== undefined);
  const template = first?.vmDiskImageTemplate;
  if (!template) return [];
  return others.flatMap(({ name, vmDiskImageTemplate: other }) =>
    other && differencesOf(other, template).length + differencesOf(template, other).length > 0
      ? [
          `vms: expected one vmDiskImageTemplate for image ${image}, found ${first.name} and ${name} with different ones.`,
        ]
      : [],
  );
}
