import { expect, test } from 'vitest';
import type { ContainerCluster } from '../../../shared/kinds/pelotech/workspace.ts';
import { parsePolicy } from '../../../shared/policy.ts';
import type { ComponentStatus } from '../stage.ts';
import { withoutHostPorts } from './host-ports.ts';

const portMappings = [{ containerPort: 53, hostPort: 53, protocol: 'UDP' }];
const cluster = { name: 'app', containers: [{ name: 'app', image: 'app:1', portMappings }] } as ContainerCluster;
const reasonOf = (status: ComponentStatus) => withoutHostPorts(status, cluster, parsePolicy(undefined)).reason;

test('a container cluster that runs lacks its host ports, and one that is stopped, as while its workspace hibernates, lacks none', () => {
  expect(reasonOf({ phase: 'Ready', reason: 'Running', message: 'It runs.' })).toBe('HostPortNotAllowed');
  expect(reasonOf({ phase: 'Ready', reason: 'Halted', message: 'Stopped, because the workspace hibernates.' })).toBe(
    'Halted',
  );
});
