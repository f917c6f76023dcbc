import { files as definitions } from '../../crds/definitions.ts';
import { verified } from '../../functions/preload/index.ts';
import { loadAllFunctions } from '../../knative/functions.ts';
import { header as knativeHeader } from '../../knative/manifest.ts';
import { filesOf } from '../../knative/manifests.ts';
import { permissionManifests } from '../../knative/permissions.ts';
import { contractDeviations } from '../../test/proofs/contract/deviations-table.ts';
import { comparisons } from '../../test/proofs/recordings/comparisons-table.ts';
import { eventingDeviations } from '../local/eventing/deviations-table.ts';
import { dashboardFiles } from '../monitoring/files.ts';
import { metricsTable } from '../monitoring/metrics-table.ts';
import { componentFiles, header as componentHeader } from '../pipelines/components.ts';
import { eventsTable, fieldsTable } from '../pipelines/events-table.ts';
import { productionFiles } from '../production/files.ts';
import { eventPoliciesText } from '../production/oidc/event-policies.ts';
import { header as productionHeader, yamlOf } from '../yaml-text.ts';
import type { Generated } from './drift.ts';
import { reasonRows, reasonsPage } from './reasons-table.ts';
import { transitionsTable } from './transitions-table.ts';

/** Everything in this project that is generated. */
export async function registry(): Promise<Generated[]> {
  const functions = await loadAllFunctions();
  return [
    { folder: 'crds/', files: definitions() },
    { folder: 'knative/', files: filesOf(functions), header: knativeHeader },
    {
      folder: 'deploy/production/',
      files: new Map([...productionFiles(functions), gatewayPermissions()]),
      header: productionHeader,
    },
    { folder: 'deploy/production/oidc/', files: new Map([['event-policies.yaml', eventPoliciesText(functions)]]) },
    { folder: 'deploy/monitoring/', files: dashboardFiles() },
    { folder: 'deploy/pipelines/', files: componentFiles(), header: componentHeader },
    { folder: 'functions/', files: new Map([['REASONS.md', reasonsPage()]]) },
    ...reasonRows(),
    { page: 'deploy/monitoring/README.md', name: 'metrics', text: metricsTable() },
    { page: 'deploy/pipelines/README.md', name: 'events', text: eventsTable() },
    { page: 'deploy/pipelines/README.md', name: 'fields', text: fieldsTable() },
    { page: 'functions/README.md', name: 'transitions', text: transitionsTable() },
    { page: 'deploy/local/README.md', name: 'deviations', text: contractDeviations() },
    { page: 'deploy/local/eventing/README.md', name: 'deviations', text: eventingDeviations() },
    { page: 'test/proofs/recordings/README.md', name: 'comparisons', text: comparisons() },
  ];
}

/** The gateway makes images by preload's rule, with what that rule needs. */
const gatewayPermissions = () =>
  ['oidc/gateway/permissions.yaml', yamlOf(permissionManifests([{ ...verified, name: 'gateway' }]))] as const;
