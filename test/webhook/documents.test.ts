import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { webhookDocument } from '../../src/mechanisms/webhook/document.ts';
import type { Proof } from '../../src/mechanisms/webhook/proofs.ts';
import { PROOFS } from '../../src/mechanisms/webhook/proofs.ts';
import { PROVIDERS } from '../../src/mechanisms/webhook/table.ts';
import { SDK_CASES } from './sdk/cases.ts';
import { VECTORS } from './vectors.ts';

const line = (provider: string, { kind, by }: Proof) => `${provider}: ${kind} ${by}`;

describe('the page of providers', () => {
  test('claims the proofs that are tests, and no other', () => {
    const tested: [provider: string, proof: Proof][] = [
      ...SDK_CASES.map(({ provider, library, isOwn }): [string, Proof] => [
        provider,
        { kind: isOwn ? 'library' : 'other library', by: library },
      ]),
      ...VECTORS.map(({ provider, source }): [string, Proof] => [provider, { kind: 'vector', by: source }]),
      // test/webhook/notifications.test.ts
      ['sns', { kind: 'library', by: 'sns-validator' }],
      ['sns', { kind: 'other library', by: 'sns-payload-validator' }],
    ];
    const claimed = Object.entries(PROOFS).flatMap(([provider, proofs]) =>
      proofs.map((proof) => line(provider, proof)),
    );
    expect(claimed.toSorted()).toEqual(
      [...new Set(tested.map(([provider, proof]) => line(provider, proof)))].toSorted(),
    );
  });

  test('is the one that the table makes', () => {
    const written = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
    expect(written).toBe(webhookDocument());
    for (const { id } of PROVIDERS) expect(written).toContain(`| \`${id}\` |`);
  });
});
