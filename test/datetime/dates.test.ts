import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { civil, daysFromCivil, daysInMonth, secondsFromCivil } from '../../src/datetime/dates.ts';
import { sized } from '../random.ts';

const SIZED = sized(2_000, 1582);

/** As far as `Date` reaches (ECMA-262, Time Values), but for a year: the first of January has to be in it too. */
const LAST_SECOND = 8_640_000_000_000 - 366 * 86_400;
const ANY_SECOND = fc.integer({ min: -LAST_SECOND, max: LAST_SECOND });
/** `Date.UTC` takes years below 100 for those of the twentieth century. */
const ANY_YEAR = fc.integer({ min: 100, max: 9_999 });
const ANY_MONTH = fc.integer({ min: 1, max: 12 });

describe('the calendar is that of Date', () => {
  test('from seconds', () => {
    fc.assert(
      fc.property(ANY_SECOND, (seconds) => {
        const date = new Date(seconds * 1_000);
        const year = date.getUTCFullYear();
        expect(civil(seconds)).toEqual({
          year,
          month: date.getUTCMonth() + 1,
          day: date.getUTCDate(),
          hour: date.getUTCHours(),
          minute: date.getUTCMinutes(),
          second: date.getUTCSeconds(),
          weekday: date.getUTCDay(),
          yearDay: (new Date(seconds * 1_000).setUTCHours(0, 0, 0, 0) - firstOf(year)) / 86_400_000,
        });
      }),
      SIZED,
    );
  });

  test('to seconds and back', () => {
    fc.assert(
      fc.property(ANY_SECOND, (seconds) => {
        const { year, month, day, hour, minute, second } = civil(seconds);
        expect(secondsFromCivil(year, month, day, hour, minute, second)).toBe(seconds);
      }),
      SIZED,
    );
  });

  test('to days, days beyond the last of a month too', () => {
    fc.assert(
      fc.property(ANY_YEAR, ANY_MONTH, fc.integer({ min: 1, max: 400 }), (year, month, day) => {
        expect(daysFromCivil(year, month, day)).toBe(Date.UTC(year, month - 1, day) / 86_400_000);
      }),
      SIZED,
    );
  });

  test('in the length of months', () => {
    fc.assert(
      fc.property(ANY_YEAR, ANY_MONTH, (year, month) => {
        expect(daysInMonth(year, month)).toBe(new Date(Date.UTC(year, month, 0)).getUTCDate());
      }),
      SIZED,
    );
  });

  test.each([1900, 2000, 2023, 2024, 2100, 2400])('on each day of %i', (year) => {
    for (let month = 1; month <= 12; month++) {
      for (let day = 1; day <= daysInMonth(year, month); day++) {
        const days = daysFromCivil(year, month, day);
        expect(days).toBe(Date.UTC(year, month - 1, day) / 86_400_000);
        expect(civil(days * 86_400)).toMatchObject({ year, month, day, hour: 0, minute: 0, second: 0 });
      }
    }
    expect(daysFromCivil(year + 1, 1, 1)).toBe(daysFromCivil(year, 12, 31) + 1);
  });
});

function firstOf(year: number): number {
  return new Date(0).setUTCFullYear(year, 0, 1);
}
