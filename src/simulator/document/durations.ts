const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Milliseconds of a duration such as `1h30m` or `2.1s`; NaN if it is invalid. */
export function durationMs(text: string): number {
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(text)) return Number.NaN;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    // 2.1 s is 2,100 ms, not 2,100.0000000000005.
    ms += Math.round(Number(amount) * UNITS_MS[unit!]! * 1_000) / 1_000;
  }
  return ms;
}

const RFC_3339 = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch of an RFC 3339 time; NaN if it is invalid. */
export function timeMs(text: string): number {
  return RFC_3339.test(text) ? Date.parse(text.replace(' ', 'T').toUpperCase()) : Number.NaN;
}
