import type { Column } from './kind.ts';
import { type ApiObject, fieldAt, objectsAt } from './objects.ts';
import { age as inWords } from './table.ts';
import { age, column, templateColumns } from './workload-columns.ts';

const isSaid = (job: ApiObject, type: string) =>
  objectsAt(job, 'status', 'conditions').some((condition) => condition.type === type && condition.status === 'True');

function jobStatus(job: ApiObject): string {
  if (isSaid(job, 'Complete')) return 'Complete';
  if (isSaid(job, 'Failed')) return 'Failed';
  if (job.metadata.deletionTimestamp) return 'Terminating';
  if (isSaid(job, 'Suspended')) return 'Suspended';
  if (isSaid(job, 'FailureTarget')) return 'FailureTarget';
  return isSaid(job, 'SuccessCriteriaMet') ? 'SuccessCriteriaMet' : 'Running';
}

function jobDuration(job: ApiObject, nowMs: number): string {
  const from = Date.parse(String(fieldAt(job, ['status', 'startTime']) ?? ''));
  const to = Date.parse(String(fieldAt(job, ['status', 'completionTime']) ?? ''));
  if (Number.isNaN(from)) return '';
  return inWords(Math.max(0, (Number.isNaN(to) ? nowMs : to) - from));
}

export const jobColumns: Column[] = [
  column('Status', jobStatus),
  column('Completions', (job) => {
    return `${fieldAt(job, ['status', 'succeeded']) ?? 0}/${fieldAt(job, ['spec', 'completions']) ?? 1}`;
  }),
  column('Duration', jobDuration),
  age,
  ...templateColumns,
];
