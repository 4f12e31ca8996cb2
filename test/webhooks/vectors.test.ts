import { describe, expect, test } from 'vitest';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { mutantsOf } from './mutants.ts';
import { secretsFor } from './secrets.ts';
import { VECTORS } from './vectors.ts';

describe.each(VECTORS)(
  '$provider ($scheme), published in $source',
  ({ provider: id, scheme: name, secret, request, nowMs }) => {
    const provider = findProvider(id)!;
    const scheme = provider.schemes.find((row) => row.name === name)!;

    test('is accepted, and refused after a change', () => {
      expect(verifyWebhook(provider, secret, request, nowMs)).toMatchObject({
        outcome: 'verified',
        scheme: name,
      });
      for (const mutant of mutantsOf(scheme, request, request, secretsFor(provider, scheme).wrong, 5)) {
        const outcome = verifyWebhook(
          provider,
          mutant.secret ?? secret,
          mutant.request,
          nowMs + (mutant.laterMs ?? 0),
        );
        expect({ mutant: mutant.name, outcome: outcome.outcome }).toEqual({
          mutant: mutant.name,
          outcome: 'refused',
        });
      }
    });
  },
);
