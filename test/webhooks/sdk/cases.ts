import { hasLibrariesFor } from '../../peers.ts';
import type { SdkCase } from './case.ts';

/** Empty where the libraries are not installed: `fixtures/` has what they signed and accepted. */
export const SDK_CASES: readonly SdkCase[] = hasLibrariesFor('webhooks beside the libraries of providers')
  ? [
      ...(await import('./body_cases.ts')).BODY_CASES,
      ...(await import('./timed_cases.ts')).TIMED_CASES,
      ...(await import('./url_cases.ts')).URL_CASES,
    ]
  : [];
