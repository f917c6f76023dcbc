import { stringify } from 'yaml';

/**
 * What Ansible's reader (PyYAML, YAML 1.1) takes for something else than it is, or for nothing at all, as the library writes
 * it: signs that do not print, a key or value "=" or "<<", a number such as 1e-7, which it takes for text.
 */
const misread = /[\u007f-\u00a0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\\[btfru]|"(?:=|<<)"|[\d]e[-+]?\d/i;

/** The text of a file that Ansible reads: YAML, and JSON, which it tries first, where YAML would be misread. */
export function ansibleFile(value: unknown): string {
  const json = `${JSON.stringify(value, undefined, 2)}\n`;
  return misread.test(json) ? json : stringify(value, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false });
}
