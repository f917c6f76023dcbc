import project from '../../package.json' with { type: 'json' };

/** An alert, as people write it; rules.ts makes a rule of it. */
export interface Alert {
  /** Also the name of its runbook. */
  name: string;
  severity: 'critical' | 'warning' | 'info';
  expr: string;
  /** How long the condition must hold before the alert fires. */
  for: string;
  /** Without labels or values, so that all alerts of a kind read the same. */
  summary: string;
  /** In Prometheus' templates. */
  description: string;
}

/** A series that is worked out once for all that ask for it. */
export interface Recording {
  record: string;
  expr: string;
}

/** Where the runbook of an alert is read. */
export const runbookUrl = (alert: string) => `${project.homepage}/blob/main/deploy/monitoring/runbooks/${alert}.md`;
