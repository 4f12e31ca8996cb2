import type { Comparison } from '../statistics.ts';

/** Formats a duration in ns: three digits and a unit. */
export function durationText(ns: number): string {
  if (ns < 1e3) return `${figures(ns)} ns`;
  if (ns < 1e6) return `${figures(ns / 1e3)} µs`;
  return ns < 1e9 ? `${figures(ns / 1e6)} ms` : `${figures(ns / 1e9)} s`;
}

/** Formats operations per second. */
export function rateText(perSecond: number): string {
  if (perSecond >= 1e6) return `${figures(perSecond / 1e6)} M/s`;
  return perSecond >= 1e3 ? `${figures(perSecond / 1e3)} k/s` : `${figures(perSecond)} /s`;
}

export function percentText(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

export function bytesText(bytes: number): string {
  return bytes < 10_000 ? `${Math.round(bytes)} B` : `${figures(bytes / 1024)} KiB`;
}

/** Half the width of an interval as a share of its value. */
export function spreadText({ value, low, high }: Comparison['ratio']): string {
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
