import type { FileOptions } from './run_file.ts';

/** Every case once, told without its lines, signed by nobody, and not timed: for whoever wants the results alone. */
export const ONCE: FileOptions = {
  selects: () => true,
  seed: null,
  repeat: 1,
  bail: false,
  lines: false,
  signer: null,
  told: () => true,
  clockMs: () => 0,
};
