const UNITS_NS: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
};
const PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Parses a duration to milliseconds: numbers with units without spaces (`90s`, `1h30m`, `1.5m`), or a whole
 * number of nanoseconds. Undefined for anything else; negative durations are parsed too.
 */
export function durationMs(written: string | number): number | undefined {
  if (typeof written === 'number') return Number.isInteger(written) ? written / 1e6 : undefined;
  const sign = /^[+-]/.exec(written)?.[0] ?? '';
  if (written === `${sign}0`) return 0;
  let sumNs = 0;
  let at = sign.length;
  if (at === written.length) return undefined;
  while (at < written.length) {
    PART.lastIndex = at;
    const part = PART.exec(written);
    if (part === null) return undefined;
    sumNs += Number(part[1]) * UNITS_NS[part[2]!]!;
    at = PART.lastIndex;
  }
  if (!Number.isFinite(sumNs)) return undefined;
  return (sign === '-' ? -sumNs : sumNs) / 1e6;
}
