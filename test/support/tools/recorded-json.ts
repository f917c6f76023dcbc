/** A recording as JSON, one exchange a line, so that a difference names the exchange that changed. */
export function recordedJson(recording: Readonly<Record<string, readonly unknown[]>>): string {
  const cases = Object.entries(recording).map(([name, exchanges]) => {
    const lines = exchanges.map((exchange) => `\n    ${JSON.stringify(exchange)}`);
    return `  ${JSON.stringify(name)}: [${lines.join(',')}${lines.length > 0 ? '\n  ' : ''}]`;
  });
  return `{\n${cases.join(',\n')}\n}\n`;
}
