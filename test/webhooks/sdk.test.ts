import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Scheme } from '../../src/webhooks/provider.ts';
import type { WebhookRequest } from '../../src/webhooks/reading.ts';
import { signWebhook } from '../../src/webhooks/sign.ts';
import { findProvider } from '../../src/webhooks/table.ts';
import { verifyWebhook } from '../../src/webhooks/verify.ts';
import { mutantsOf } from './mutants.ts';
import type { Mutant } from './mutants.ts';
import { JSON_BODIES, requestOf } from './requests.ts';
import { secretsFor } from './secrets.ts';
import type { SdkCase } from './sdk/case.ts';
import { SDK_CASES } from './sdk/cases.ts';
import { hasLibraries } from '../peers.ts';
import { sized } from '../random.ts';

const providerOf = (sdk: SdkCase) => findProvider(sdk.provider)!;
const schemeOf = (sdk: SdkCase): Scheme => providerOf(sdk).schemes.find(({ name }) => name === sdk.scheme)!;
const bodiesOf = (sdk: SdkCase) => sdk.bodies ?? JSON_BODIES;

function draftOf(sdk: SdkCase, at: number): WebhookRequest {
  const bodies = bodiesOf(sdk);
  const headers = sdk.headers ?? { 'Content-Type': 'application/json' };
  return requestOf({
    headers,
    body: bodies[at % bodies.length]!,
    ...(sdk.method === undefined ? {} : { method: sdk.method }),
  });
}

function signedByUs(sdk: SdkCase, at: number, nowMs: number): WebhookRequest {
  const signed = signWebhook(providerOf(sdk), sdk.secret, draftOf(sdk, at), nowMs, { scheme: sdk.scheme });
  if ('problem' in signed) throw new Error(signed.problem);
  return signed.request;
}

async function isAccepted(sdk: SdkCase, request: WebhookRequest, secret: string): Promise<boolean> {
  try {
    return await sdk.accepts!(request, secret);
  } catch {
    return false;
  }
}

/** The wrong secret has the form of the right one; a library that takes a public key gets another public key. */
function wrongSecretFor(sdk: SdkCase): string {
  return secretsFor(providerOf(sdk), schemeOf(sdk)).wrong;
}

/** Header names that a library is never given twice: it takes an object. */
const IS_DUPLICATE = /duplicated/;

describe.each(SDK_CASES.filter(({ sign }) => sign !== undefined))(
  'signed by $library for $provider ($scheme)',
  (sdk) => {
    test('is accepted, and refused after a change', async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(10_000), async (at) => {
          const nowMs = Date.now();
          const signed = await sdk.sign!(draftOf(sdk, at), sdk.secret, nowMs);
          const other = await sdk.sign!(draftOf(sdk, at + 1), sdk.secret, nowMs);
          const checking = sdk.checking ?? sdk.secret;
          const verify = (mutant: Mutant) =>
            verifyWebhook(
              providerOf(sdk),
              mutant.secret ?? checking,
              mutant.request,
              nowMs + (mutant.laterMs ?? 0),
            );
          expect(verify({ name: 'as signed', request: signed })).toMatchObject({
            outcome: 'verified',
            scheme: sdk.scheme,
          });
          for (const mutant of mutantsOf(schemeOf(sdk), signed, other, wrongSecretFor(sdk), at)) {
            const { outcome } = verify(mutant);
            expect({ mutant: mutant.name, outcome }).toEqual({ mutant: mutant.name, outcome: 'refused' });
          }
        }),
        sized(20, 20_270_406),
      );
    });
  },
);

describe.each(SDK_CASES.filter(({ accepts }) => accepts !== undefined))(
  '$library for $provider ($scheme)',
  (sdk) => {
    test('accepts our signatures, and refuses them after a change', async () => {
      const checking = sdk.checking ?? sdk.secret;
      for (let at = 0; at < bodiesOf(sdk).length; at++) {
        const nowMs = Date.now();
        const signed = signedByUs(sdk, at, nowMs);
        expect({ at, accepted: await isAccepted(sdk, signed, checking) }).toEqual({ at, accepted: true });
        const other = signedByUs(sdk, at + 1, nowMs);
        const mutants = mutantsOf(schemeOf(sdk), signed, other, wrongSecretFor(sdk), at);
        for (const mutant of mutants.filter(({ name }) => !IS_DUPLICATE.test(name))) {
          const late = mutant.laterMs === undefined ? mutant : signedLate(sdk, at, nowMs, mutant);
          const wasAccepted = await isAccepted(sdk, late.request, mutant.secret ?? checking);
          const isLenient = sdk.lenient?.some(([names]) => names.test(mutant.name)) ?? false;
          const letIn = isLenient ? [] : [mutant.name].filter(() => wasAccepted);
          expect({ at, letIn }).toEqual({ at, letIn: [] });
        }
      }
    });
  },
);

// Without this a run without the libraries would find no test in this file, which fails.
test.skipIf(!hasLibraries)('the tables of signers and verifiers are complete', () => {
  expect(SDK_CASES.filter(({ sign }) => sign !== undefined).length).toBeGreaterThan(0);
  expect(SDK_CASES.filter(({ accepts }) => accepts !== undefined).length).toBeGreaterThan(0);
});

// One of the libraries prints what it refuses.
beforeAll(() => void vi.spyOn(console, 'warn').mockImplementation(() => undefined));
afterAll(() => void vi.restoreAllMocks());

/**
 * Libraries read the true clock: instead of moving it, the request is signed at another time. What comes from the
 * future comes nearer while the test runs, so it is put some seconds further off.
 */
function signedLate(sdk: SdkCase, at: number, nowMs: number, mutant: Mutant): Mutant {
  return {
    ...mutant,
    request: signedByUs(sdk, at, nowMs - mutant.laterMs! + (mutant.laterMs! < 0 ? 5000 : 0)),
  };
}
