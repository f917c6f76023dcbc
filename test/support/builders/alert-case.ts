/** What promtool plays to a rule, a minute between two values, and who is to be told at `atMinute`. */
export interface AlertCase {
  alert: string;
  /** In a sentence. */
  name: string;
  /** By series; in promtool's notation: `0x10` is ten times the same again, `_x3` three scrapes with nothing. */
  series: Readonly<Record<string, string>>;
  atMinute: number;
  /** The alerts that fire, by the labels they have beside their severity, with their descriptions; none is none. */
  fires: readonly { labels: Readonly<Record<string, string>>; description: string }[];
}
