import { writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { mutantsOf } from './mutants.ts';
import { requestOf } from './requests.ts';
import { SDK_CASES } from './sdk/cases.ts';
import { asRequest, record, RECORDED, RECORDED_FILE } from './sdk/recorded.ts';
import type { Recorded } from './sdk/recorded.ts';
import { secretsFor } from './secrets.ts';

const NOW = Date.UTC(2027, 3, 5, 6, 7, 8, 901);
const providerOf = ({ provider }: { provider: string }) => findProvider(provider)!;
const schemeOf = (one: Recorded) => providerOf(one).schemes.find(({ name }) => name === one.scheme)!;

describe.each(RECORDED)('recorded from $library for $provider ($scheme)', (one) => {
  test('is accepted, and refused after a change', () => {
    const { nowMs, checking = one.secret } = one;
    const requests = [...one.signed, ...one.accepted].map(asRequest);
    expect(requests.length).toBeGreaterThan(0);
    for (const [at, request] of requests.entries()) {
      const verify = (changed = request, secret = checking, laterMs = 0) =>
        verifyWebhook(providerOf(one), secret, changed, nowMs + laterMs);
      expect({ at, ...verify() }).toMatchObject({ at, outcome: 'verified', scheme: one.scheme });
      const other = requests.find(({ body }) => !Buffer.from(body).equals(request.body));
      if (other === undefined) continue;
      const { wrong } = secretsFor(providerOf(one), schemeOf(one));
      for (const mutant of mutantsOf(schemeOf(one), request, other, wrong, at)) {
        const { outcome } = verify(mutant.request, mutant.secret, mutant.laterMs);
        expect({ at, mutant: mutant.name, outcome }).toEqual({ at, mutant: mutant.name, outcome: 'refused' });
      }
    }
  });

  test('equals our signature', () => {
    for (const accepted of one.accepted) {
      const draft = requestOf({ method: accepted.method, url: accepted.url, body: accepted.body });
      const given = headersBefore(one, accepted.headers);
      const ours = signWebhook(providerOf(one), one.secret, { ...draft, headers: given }, one.nowMs, {
        scheme: one.scheme,
      });
      expect('problem' in ours ? ours.problem : withoutChance(one, ours.request.headers)).toEqual(
        withoutChance(one, accepted.headers),
      );
    }
  });
});

/** The headers that a request had before it was signed, which are its first. */
function headersBefore(one: Recorded, headers: readonly string[]): readonly string[] {
  const empty = requestOf({ method: 'POST', body: '' });
  const added = signWebhook(providerOf(one), one.secret, empty, one.nowMs, { scheme: one.scheme });
  if ('problem' in added) throw new Error(added.problem);
  const names = new Set(added.request.headers.filter((_text, at) => at % 2 === 0));
  const first = headers.findIndex((text, at) => at % 2 === 0 && names.has(text));
  return first === -1 ? headers : headers.slice(0, first);
}

/** A signature with an elliptic curve is another each time. */
function withoutChance({ checking }: Recorded, headers: readonly string[]): readonly string[] {
  return checking === undefined ? headers : headers.map((text) => (text.length > 80 ? '' : text));
}

describe.skipIf(SDK_CASES.length === 0)('the recording', () => {
  // Libraries read the clock of the process.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: NOW }));
  afterEach(() => void vi.useRealTimers());

  test('matches the libraries (UPDATE=1 writes it)', async () => {
    const found: Recorded[] = [];
    for (const sdk of SDK_CASES) found.push(await record(sdk, NOW));
    if (process.env['UPDATE'] === '1') writeFileSync(RECORDED_FILE, `${JSON.stringify(found, null, 1)}\n`);
    for (const one of found) {
      expect(one.accepted.length + one.signed.length, `${one.provider} ${one.library}`).toBeGreaterThan(0);
    }
    // Each run makes a new key pair.
    const comparable = (all: readonly Recorded[]) =>
      all.map((one) =>
        one.checking === undefined ? one : { ...one, secret: '', checking: '', accepted: [] },
      );
    expect(comparable(found)).toEqual(comparable(RECORDED));
  });
});
