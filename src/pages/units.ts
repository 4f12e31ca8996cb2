/** Sizes, durations and times as people read them. */

// table: units of sizes
const SIZES = ['B', 'kB', 'MB', 'GB', 'TB'] as const;

/** `999 B`, `1.2 kB`: decimal, as networks count. */
export function sizeText(bytes: number): string {
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), SIZES.length - 1);
  const value = bytes / 1000 ** power;
  return `${power === 0 || value >= 99.95 ? Math.round(value) : value.toFixed(1)} ${SIZES[power]}`;
}

/** `0.4 µs`, `12 µs`, `3.1 ms`, `240 ms`, `1.4 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 0.001) return `${Math.round(ms * 1e6)} ns`;
  if (ms < 1) return `${short(ms * 1000)} µs`;
  if (ms < 1000) return `${short(ms)} ms`;
  if (ms < 60_000) return `${short(ms / 1000)} s`;
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function short(value: number): string {
  return value < 9.95 ? value.toFixed(1) : String(Math.round(value));
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `09:14:05` in the time of the page; with ms if asked. */
export function clockText(ms: number, hasMs = false): string {
  const date = new Date(ms);
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return hasMs ? `${time}.${String(date.getMilliseconds()).padStart(3, '0')}` : time;
}

/** `12,345`. */
export function countText(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
