import { mostTogether, type WorkspaceMachine, type WorkspaceSpec } from '../../../shared/kinds/pelotech/workspace.ts';
import { buildRolesOf, deployRolesOf, type Role } from './roles-of-machine.ts';

/** What Ansible would refuse or misunderstand of the roles of a workspace, each fault in a sentence; part of SpecValid. */
export function roleFaults({ vms = [] }: WorkspaceSpec): string[] {
  const size = vms
    .flatMap((vm) => [...buildRolesOf(vm), ...deployRolesOf(vm)])
    .reduce(
      (sum, { variables = {} }) => sum + (isDeeper(variables, mostLevels) ? 0 : JSON.stringify(variables).length),
      0,
    );
  const most = mostTogether.variables;
  // Beyond the limit the names are not checked.
  return size > most
    ? [
        `vms: expected variables of at most ${most} characters as JSON in the roles of all machines together, found ${size}.`,
      ]
    : vms.flatMap(nameFaults);
}

function nameFaults(vm: WorkspaceMachine): string[] {
  const of = (roles: readonly Role[], stage: string) =>
    roles.flatMap(({ role, variables }, index) => {
      const at = `vms ${vm.name}: ansible.roles.${stage}[${index}]`;
      const isRole = isRoleName(role);
      return [
        ...(isRole ? [] : [`${at}.role: ${expectedRole}, found ${JSON.stringify(role)}.`]),
        ...Object.keys(variables ?? {})
          .filter((name) => !isVariableName(name))
          .map((name) => `${at}.variables: ${expectedVariable}, found ${JSON.stringify(name)}.`),
        ...(isDeeper(variables, mostLevels)
          ? [`${at}.variables: expected lists and maps of at most ${mostLevels} levels, found more.`]
          : []),
      ];
    });
  const deploy = deployRolesOf(vm);
  return [
    ...(deploy.length > 0 && (vm.name === 'all' || vm.name === 'ungrouped')
      ? [`vms ${vm.name}: expected another name for a machine with deploy roles, found one of Ansible's groups.`]
      : []),
    ...of(buildRolesOf(vm), 'build'),
    ...of(deploy, 'deploy'),
  ];
}

/** What is deeper would fill the stack of its readers. */
const mostLevels = 64;

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1)));

const expectedRole =
  'expected the name of a role, letters, digits, "_" and "-", such as linuxRouter, or with its collection, such as acme.lab.router';
const expectedVariable =
  'expected names of letters, digits and "_" that begin with no digit and are no word of Python, such as enable_nat';

/** A folder's name, or namespace.collection.role: no path, which would lead out of where roles are, and no template. */
export const isRoleName = (name: string) =>
  /^[A-Za-z0-9_][\w-]{0,99}$/.test(name) || /^[A-Za-z_]\w*(\.[A-Za-z_]\w*){2,}$/.test(name);

/** What Ansible takes for a variable (ansible/utils/vars.py, isidentifier). */
export const isVariableName = (name: string) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !pythonWords.has(name);

const pythonWords = new Set(
  [
    'False None True and as assert async await break class continue def del elif else except finally for from global if',
    'import in is lambda nonlocal not or pass raise return try while with yield',
  ].flatMap((words) => words.split(' ')),
);
