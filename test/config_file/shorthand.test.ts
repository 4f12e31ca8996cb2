import { expect, test } from 'vitest';
import type { Report } from '../../src/diagnostics/report.ts';
import type { Shape } from '../../src/config_file/shape.ts';
import { reportDepartures } from '../../src/config_file/shape_messages.ts';
import { shaped } from '../../src/config_file/validate.ts';

/** Values in place of a map: what the schema of the map says of its members decides what is meant. */

const POT: Shape = {
  type: 'object',
  additionalProperties: false,
  properties: {
    hot: { type: 'boolean', switch: true },
    leaf: { type: 'string' },
    kettle: {
      type: 'object',
      additionalProperties: false,
      properties: { litres: { type: 'integer', shorthand: '^(\\d+) ?l$' } },
    },
  },
};

/** The hint of the only finding, and its fix as a sentence. */
function cureOf(shape: Shape, value: unknown): readonly [hint: string | undefined, fix: string | undefined] {
  const found: (readonly [string | undefined, string | undefined])[] = [];
  const report: Report<string> = (_code, _pointer, _message, more) =>
    found.push([more?.hint, more?.fix?.message]);
  shaped(shape, value, '/pot', reportDepartures(report));
  expect(found).toHaveLength(1);
  return found[0]!;
}

test('a scalar with the pattern of a member stands for a map with that member', () => {
  const yaml = '{ kettle: { litres: 2 } }';
  expect(cureOf(POT, '2l')).toEqual([`write pot: ${yaml}`, `write ${yaml}`]);
  expect(cureOf({ anyOf: [{ type: 'boolean' }, POT] }, '2l')).toEqual([`write ${yaml}`, `write ${yaml}`]);
  expect(cureOf(POT, 'two')).toEqual(['write its keys below it, indented', undefined]);
});

test('`no` in place of a map sets its switch', () => {
  const yaml = '{ hot: false }';
  expect(cureOf(POT, 'no')).toEqual([`leave pot out, or write ${yaml}`, `write ${yaml}`]);
  const { hot: _, ...properties } = POT.properties!;
  expect(cureOf({ ...POT, properties }, 'no')).toEqual(['write its keys below it, indented', undefined]);
});
