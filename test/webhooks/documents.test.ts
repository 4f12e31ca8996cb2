import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { webhookDocument } from '../../src/webhooks/document.ts';
import type { Proof } from '../../src/webhooks/proofs.ts';
import { PROOFS } from '../../src/webhooks/proofs.ts';
import { PROVIDERS } from '../../src/webhooks/table.ts';
import { RECORDED } from './sdk/recorded.ts';
import { VECTORS } from './vectors.ts';

const line = (provider: string, { kind, by }: Proof) => `${provider}: ${kind} ${by}`;

describe('the page of providers', () => {
  test('lists exactly the proofs that are tests', () => {
    const tested: [provider: string, proof: Proof][] = [
      ...RECORDED.map(({ provider, library, isOwn }): [string, Proof] => [
        provider,
        { kind: isOwn ? 'library' : 'other library', by: library },
      ]),
      ...VECTORS.map(({ provider, source }): [string, Proof] => [provider, { kind: 'vector', by: source }]),
      // test/webhooks/notifications.test.ts
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

  test('is up to date', () => {
    const written = readFileSync(new URL('../../docs/reference/webhooks.md', import.meta.url), 'utf8');
    expect(written).toBe(webhookDocument());
    for (const { id } of PROVIDERS) expect(written).toContain(`| \`${id}\` |`);
  });
});
