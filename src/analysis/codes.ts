import type { Basis } from '../diagnostics/diagnostic.ts';
import { CODES_OF_ACCESS } from './codes/access.ts';
import { CODES_OF_BEHAVIOUR } from './codes/behaviour.ts';
import { CODES_OF_EFFECT } from './codes/effect.ts';

/** How a finding is known. */
export const BASES = {
  proved: 'It is proved for all requests.',
  run: 'It is shown by a request that was run on the engine.',
  settings: 'It follows from the configuration alone; no request was run.',
} as const satisfies Readonly<Record<Basis, string>>;

/** What findings say, and how each is known. */
export const ANALYSIS_CODES = {
  ...CODES_OF_EFFECT,
  ...CODES_OF_ACCESS,
  ...CODES_OF_BEHAVIOUR,
} as const;

export type AnalysisCode = keyof typeof ANALYSIS_CODES;
