/** Numbers that expressions read from a time, and what they can be. */
export const TIME_PARTS: readonly {
  /** As in the ids of overloads: `timestamp_to_hours`. */
  readonly name: string;
  readonly least: number;
  readonly most: number;
}[] = [
  { name: 'month', least: 0, most: 11 },
  { name: 'day_of_month_1_based', least: 1, most: 31 },
  { name: 'day_of_month', least: 0, most: 30 },
  { name: 'day_of_week', least: 0, most: 6 },
  { name: 'day_of_year', least: 0, most: 365 },
  { name: 'hours', least: 0, most: 23 },
  { name: 'minutes', least: 0, most: 59 },
  { name: 'seconds', least: 0, most: 59 },
  { name: 'milliseconds', least: 0, most: 999 },
];

const PART = /^timestamp_to_(\w+?)(_with_tz)?$/;

/** The field of a part of the current time; null for other functions, and for a zone that is not a constant. */
export function timeField(overload: string, zone: string | null): string | null {
  const [, name, isZoned] = PART.exec(overload) ?? [];
  if (!TIME_PARTS.some((part) => part.name === name)) return null;
  if (isZoned === undefined) return `number time.now ${name} `;
  return zone === null ? null : `number time.now in ${name} ${zone}`;
}
