import { type Civil, civil } from '../../datetime/dates.ts';
import { type FunctionRow, type Overload, func, overload } from '../function_table.ts';
import { wholeUnits } from '../time.ts';
import { DURATION, INT, STRING, TIMESTAMP } from '../types.ts';
import { type EvalError, type Timestamp, fail } from '../values.ts';
import { isNamedZone, zonedSeconds } from '../zones.ts';

/** Units for a conversion to a named zone, whose rules may have to be loaded. */
const UNITS_PER_ZONE = 2_000;

type Read = (calendar: Civil, time: Timestamp) => number;

/** A getter in UTC and in a zone; `inUtc` is a faster implementation for UTC, if there is one. */
function ofTimestamp(
  id: string,
  read: Read,
  inUtc: (time: Timestamp) => number = (time) => read(civil(time.seconds), time),
): Overload[] {
  return [
    overload({ id: `timestamp_to_${id}`, style: 'method', params: [TIMESTAMP], result: INT, call: inUtc }),
    overload({
      id: `timestamp_to_${id}_with_tz`,
      style: 'method',
      params: [TIMESTAMP, STRING],
      result: INT,
      cost: (_time, zone) => (isNamedZone(zone) ? UNITS_PER_ZONE : 0),
      call: (time, zone): number | EvalError => {
        const seconds = zonedSeconds(time.seconds, zone);
        return seconds === undefined
          ? fail(
              'expr.invalid_argument',
              `'${zone.slice(0, 40)}' is not a time zone such as 'Europe/Berlin' or '+02:00'`,
            )
          : read(civil(seconds), time);
      },
    }),
  ];
}

function secondOfDay(time: Timestamp): number {
  const rest = time.seconds % 86_400;
  return rest < 0 ? rest + 86_400 : rest;
}

function milliseconds(time: Timestamp): number {
  return Math.floor(time.nanos / 1_000_000);
}

function ofDuration(id: string, unitNanos: bigint): Overload {
  const call = (duration: Parameters<typeof wholeUnits>[0]): number => wholeUnits(duration, unitNanos);
  return overload({ id: `duration_to_${id}`, style: 'method', params: [DURATION], result: INT, call });
}

const EXAMPLE = "timestamp('2026-03-01T10:20:30.5Z')";

/** Getters of timestamps (UTC, or in a zone) and durations (the total in whole units). */
export const TIME: readonly FunctionRow[] = [
  func(
    'getFullYear',
    'The year.',
    `${EXAMPLE}.getFullYear() == 2026`,
    ofTimestamp('year', (at) => at.year),
  ),
  func(
    'getMonth',
    'The month, counted from 0.',
    `${EXAMPLE}.getMonth() == 2`,
    ofTimestamp('month', (at) => at.month - 1),
  ),
  func(
    'getDate',
    'The day of the month, counted from 1.',
    `${EXAMPLE}.getDate() == 1`,
    ofTimestamp('day_of_month_1_based', (at) => at.day),
  ),
  func(
    'getDayOfMonth',
    'The day of the month, counted from 0.',
    `${EXAMPLE}.getDayOfMonth() == 0`,
    ofTimestamp('day_of_month', (at) => at.day - 1),
  ),
  func(
    'getDayOfWeek',
    'The day of the week; Sunday is 0.',
    `${EXAMPLE}.getDayOfWeek() == 0`,
    ofTimestamp('day_of_week', (at) => at.weekday),
  ),
  func(
    'getDayOfYear',
    'The day of the year, counted from 0.',
    `${EXAMPLE}.getDayOfYear() == 59`,
    ofTimestamp('day_of_year', (at) => at.yearDay),
  ),
  func('getHours', 'The hour of the day, or the whole hours of a duration.', `${EXAMPLE}.getHours() == 10`, [
    ...ofTimestamp(
      'hours',
      (at) => at.hour,
      (time) => Math.floor(secondOfDay(time) / 3_600),
    ),
    ofDuration('hours', 3_600_000_000_000n),
  ]),
  func(
    'getMinutes',
    'The minute of the hour, or the whole minutes of a duration.',
    "duration('90s').getMinutes() == 1",
    [
      ...ofTimestamp(
        'minutes',
        (at) => at.minute,
        (time) => Math.floor((secondOfDay(time) % 3_600) / 60),
      ),
      ofDuration('minutes', 60_000_000_000n),
    ],
  ),
  func(
    'getSeconds',
    'The second of the minute, or the whole seconds of a duration.',
    "duration('90s').getSeconds() == 90",
    [
      ...ofTimestamp(
        'seconds',
        (at) => at.second,
        (time) => secondOfDay(time) % 60,
      ),
      ofDuration('seconds', 1_000_000_000n),
    ],
  ),
  func(
    'getMilliseconds',
    'The milliseconds of the second, also of a duration.',
    `${EXAMPLE}.getMilliseconds() == 500`,
    [
      ...ofTimestamp('milliseconds', (_at, time) => milliseconds(time), milliseconds),
      overload({
        id: 'duration_to_milliseconds',
        style: 'method',
        params: [DURATION],
        result: INT,
        call: (duration) => wholeUnits(duration, 1_000_000n) % 1_000,
      }),
    ],
  ),
];
