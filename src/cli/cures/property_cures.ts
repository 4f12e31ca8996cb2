import type { PROPERTY_CODES } from '../../project_files/property_codes.ts';

/** Cures of what property files can have beyond form. */
// table: examples and cures of codes
export const PROPERTY_CURES: Readonly<
  Record<keyof typeof PROPERTY_CODES, readonly [example: string, cure: string]>
> = {
  'property.no_statement': [
    '`- name: ops is closed` without more',
    'Add `never: { end: forwarded, backend: ops }`, or `use` with a ready-made property',
  ],
  'property.no_name': ['`- never: { end: stopped }`', 'Add `name` with the statement as a sentence'],
  'property.two_statements': [
    '`use: https-only` beside `where`',
    'Remove `where` and `never`, or write them without `use`',
  ],
  'property.unknown_use': [
    '`use: https-ony`',
    'Correct the name; `docs/reference/ready_properties.md` lists all',
  ],
  'property.bad_parameter': [
    '`use: path-closed` with `path: admin`',
    'Write the parameters that the finding names; a path begins with a slash',
  ],
  'property.unknown_gate': ['`without: [logn]`', 'Name a module, an action or `login`'],
  'property.gate_without_name': [
    '`without: [ip_restriction]`',
    'State who may pass: `use: backend-only-from`, or an expression of the address or user agent in `where`',
  ],
};
