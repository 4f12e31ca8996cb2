import type { FileOptions } from './run_file.ts';

/** Runs every case once, without lines, signer and timing: for callers that only need the results. */
export const ONCE: FileOptions = {
  selects: () => true,
  seed: null,
  repeat: 1,
  bail: false,
  lines: false,
  signer: null,
  onResult: () => true,
  clockMs: () => 0,
};
