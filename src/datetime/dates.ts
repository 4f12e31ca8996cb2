/**
 * The proleptic Gregorian calendar in UTC, by arithmetic alone: pure rooms may not use `Date`, and a replay has
 * to produce the same text. Years are counted in eras of 400 that begin in March, so that a leap day is the
 * last day of its year.
 */

const DAY_SECONDS = 86_400;
const ERA_DAYS = 146_097;
/** Days from 0000-03-01, the start of the first era, to 1970-01-01. */
const EPOCH_DAYS = 719_468;

/** A calendar date and time; month and day count from 1, weekday from Sunday = 0, yearDay from 0. */
export interface Civil {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly weekday: number;
  readonly yearDay: number;
}

/** Days from 1970-01-01 to a date; a day past the end of its month continues into the next month. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * ERA_DAYS + dayOfEra - EPOCH_DAYS;
}

/** Seconds from the epoch to a date and time of day in UTC. */
export function secondsFromCivil(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  return daysFromCivil(year, month, day) * DAY_SECONDS + hour * 3_600 + minute * 60 + second;
}

/** The calendar date and time of whole seconds since the epoch, already shifted into its time zone. */
export function civil(seconds: number): Civil {
  const days = Math.floor(seconds / DAY_SECONDS);
  const rest = seconds - days * DAY_SECONDS;
  const shifted = days + EPOCH_DAYS;
  const era = Math.floor(shifted / ERA_DAYS);
  const dayOfEra = shifted - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / (ERA_DAYS - 1))) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return {
    year,
    month,
    day: dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1,
    hour: Math.floor(rest / 3_600),
    minute: Math.floor((rest % 3_600) / 60),
    second: rest % 60,
    weekday: (((days + 4) % 7) + 7) % 7,
    yearDay: days - daysFromCivil(year, 1, 1),
  };
}

/** The number of days in a month; the month counts from 1. */
export function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}
