import type { LocatedCost, ResultRow } from '../result.ts';
import type { Comparison } from '../statistics.ts';

/** Formats a duration in ns: three digits and a unit. */
export function durationText(ns: number): string {
  if (ns < 1e3) return `${figures(ns)} ns`;
  if (ns < 1e6) return `${figures(ns / 1e3)} µs`;
  return ns < 1e9 ? `${figures(ns / 1e6)} ms` : `${figures(ns / 1e9)} s`;
}

/** Headings of `rowTexts`; the third one belongs to the second. */
export const ROW_COLUMNS = ['', 'per op', '', 'ops', 'p50', 'p99', 'p99.9', 'bytes', 'gc'];

/** What was measured of one row: its name, then its figures. */
export function rowTexts(row: ResultRow): readonly [string, string, string, ...string[]] {
  const { name, nsPerOp, opsPerSecond, latency, bytesPerOp, gcShare } = row;
  return [
    name,
    durationText(nsPerOp.value),
    spreadText(nsPerOp),
    rateText(opsPerSecond),
    durationText(latency.p50),
    durationText(latency.p99),
    durationText(latency.p999),
    bytesText(bytesPerOp),
    percentText(gcShare),
  ];
}

/** Formats operations per second. */
export function rateText(perSecond: number): string {
  if (perSecond >= 1e6) return `${figures(perSecond / 1e6)} M/s`;
  return perSecond >= 1e3 ? `${figures(perSecond / 1e3)} k/s` : `${figures(perSecond)} /s`;
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

/**
 * The shares of modules, of those in `rest` together, and of what is left of a decision. As printed they add up to 100 %: the
 * largest remainders are rounded up. Rules are parts of their module and are rounded alone.
 */
export function shareTexts(
  parts: readonly LocatedCost[],
  rest: readonly LocatedCost[] = [],
): { readonly of: (part: LocatedCost) => string; readonly own: string; readonly small: string } {
  const modules = parts.filter(({ kind }) => kind === 'module');
  const shown = modules.filter((part) => !rest.includes(part));
  const shownShare = shown.reduce((sum, { share }) => sum + share, 0);
  const all = modules.reduce((sum, { share }) => sum + share, 0);
  const [own, small, ...texts] = wholeTexts([1 - all, all - shownShare, ...shown.map(({ share }) => share)]);
  return { of: (part) => texts[shown.indexOf(part)] ?? tenths(part.share * 1_000), own: own!, small: small! };
}

/** Shares of a whole, in tenths of a percent. */
function wholeTexts(shares: readonly number[]): string[] {
  const exact = shares.map((share) => Math.max(0, share) * 1_000);
  const floors = exact.map((value) => Math.floor(value));
  const missing = 1_000 - floors.reduce((sum, value) => sum + value, 0);
  const byRemainder = exact
    .map((value, at) => ({ at, remainder: value - floors[at]! }))
    .toSorted((one, other) => other.remainder - one.remainder);
  for (const { at } of byRemainder.slice(0, Math.max(0, missing))) floors[at]!++;
  return floors.map(tenths);
}

function tenths(perMille: number): string {
  return `${(perMille / 10).toFixed(1)} %`;
}

function bytesText(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${figures(bytes / 1024)} KiB`;
}

/** Half the width of an interval as a share of its value. */
function spreadText({ value, low, high }: Comparison['ratio']): string {
  return `±${percentText((high - low) / 2 / value)}`;
}

/** Formats a comparison as one sentence without a full stop. */
export function comparisonText({ verdict, ratio, test }: Comparison): string {
  const change = percentText(Math.abs(ratio.value - 1));
  const interval = `ratio ${ratio.value.toFixed(3)} [${ratio.low.toFixed(3)}, ${ratio.high.toFixed(3)}], p ${test.p < 0.001 ? '< 0.001' : test.p.toFixed(3)}, effect ${test.effect.toFixed(2)}`;
  return verdict === 'no difference' ? `no difference (${interval})` : `${change} ${verdict} (${interval})`;
}

function figures(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
