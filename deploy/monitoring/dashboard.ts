/** What Grafana puts behind a number. */
type Unit = 'short' | 's' | 'bytes' | 'percentunit' | 'bool_yes_no';

interface Query {
  expr: string;
  /** By Grafana's `{{label}}`. */
  legend: string;
}

export interface Panel {
  title: string;
  /** What one reads off it, and what one does then. */
  description: string;
  unit: Unit;
  shape: 'lines' | 'stacked' | 'number' | 'bars';
  queries: readonly Query[];
  /** The alerts whose runbooks say what to do about it. */
  alerts?: readonly string[];
  /** From this value on it is red. */
  redFrom?: number;
  /** Below this value it is red. */
  greenFrom?: number;
}

export interface Row {
  title: string;
  panels: readonly Panel[];
}

export interface Dashboard {
  /** Also the file's name: links and bookmarks keep to it. */
  uid: string;
  title: string;
  description: string;
  rows: readonly Row[];
}

/** A panel as the dashboards write it: it shows plain numbers unless it says another unit. */
type Written = Omit<Panel, 'title' | 'unit'> & { unit?: Unit };

/** Rows of panels, both by title. */
export const rowsOf = (rows: Readonly<Record<string, Readonly<Record<string, Written>>>>): readonly Row[] =>
  Object.entries(rows).map(([title, panels]) => ({
    title,
    panels: Object.entries(panels).map(([name, panel]) => ({ title: name, unit: 'short', ...panel })),
  }));

const shaped =
  (shape: Panel['shape']) =>
  (byLegend: Readonly<Record<string, string>>): Pick<Panel, 'shape' | 'queries'> => ({
    shape,
    queries: Object.entries(byLegend).map(([legend, expr]) => ({ expr, legend })),
  });

/** The shapes of panels, with the queries of each by their legends. */
export const lines = shaped('lines');
export const stacked = shaped('stacked');
export const bars = shaped('bars');
/** One value, which needs no legend. */
export const number = (expr: string) => shaped('number')({ '': expr });
