/** Milliseconds of a monotonic clock. `performance` would load a dozen of Node's modules. */
export function elapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
