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

/** Where the runbooks of this folder are read; the one place to change for a fork. */
const runbooks = 'https://github.com/pelotech/ot-functions/blob/main/deploy/monitoring/runbooks';

export const runbookUrl = (alert: string) => `${runbooks}/${alert}.md`;
