/** Milliseconds of a clock that only goes forward. `performance` would load a dozen modules of Node's for the same. */
export function elapsedMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
