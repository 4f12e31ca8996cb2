/** The part of the global `process` that the engine uses. */
export const process = {
  env: {},
  hrtime: { bigint: (): bigint => BigInt(Math.round(performance.now() * 1e6)) },
} as const;
