import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fieldNamesOf, firstValueOf, perNames } from '../../src/http/field_names.ts';
import { type FieldList, firstValue } from '../../src/http/fields.ts';
import { sized } from '../random.ts';

const names = fc.array(fc.constantFrom('host', 'Host', 'HOST', 'x-a', 'accept'), { maxLength: 4 });

test('the first value of a field is found as without recent names', () => {
  const hostOf = firstValueOf('host');
  const property = fc.property(fc.array(fc.tuple(names, fc.nat()), { maxLength: 30 }), (lists) => {
    for (const [own, value] of lists) {
      const fields = own.flatMap((name, at) => [name, `${value}.${at}`]);
      for (const list of [fields, fields, [...fields]]) expect(hostOf(list)).toBe(firstValue(list, 'host'));
    }
  });
  fc.assert(property, sized(300, 7));
});

test('what is made of names is made once for lists that have them', () => {
  let made = 0;
  const countOf = perNames((like) => {
    made++;
    return like.length / 2;
  });
  const list = (value: number): FieldList => ['x-once', `${value}`, 'x-made', `${value}`];
  expect(fieldNamesOf(list(1))).toBeNull();
  for (let value = 2; value < 10; value++) expect(countOf(fieldNamesOf(list(value))!)).toBe(2);
  expect(made).toBe(1);
});

test('names of clients that come once are not kept, nor are very long ones', () => {
  for (let client = 0; client < 100; client++) expect(fieldNamesOf([`x-${client}`, '1'])).toBeNull();
  const long = 'x'.repeat(300);
  for (let turn = 0; turn < 5; turn++) {
    expect(fieldNamesOf([long, `${turn}`])).toBeNull();
    expect(
      fieldNamesOf(Array.from({ length: 200 }, (_, at) => (at % 2 === 0 ? 'x-n' : `${turn}`))),
    ).toBeNull();
  }
});
