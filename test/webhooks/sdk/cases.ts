import { hasLibrariesFor } from '../../peers.ts';
import type { SdkCase } from './case.ts';

/** None where the libraries are not installed: then what they signed and let in is known from `fixtures/`. */
export const SDK_CASES: readonly SdkCase[] = hasLibrariesFor('webhooks beside the libraries of providers')
  ? [
      ...(await import('./body_cases.ts')).BODY_CASES,
      ...(await import('./timed_cases.ts')).TIMED_CASES,
      ...(await import('./url_cases.ts')).URL_CASES,
    ]
  : [];
