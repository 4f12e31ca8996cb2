import {
  type Handler,
  type Pass,
  type Stop,
  type Verdict,
  type Ask,
  ask,
  type RequestHead,
  type World,
} from '../engine/contract.ts';
import type { Linked } from '../engine/module.ts';
import { numbers } from './facts.ts';
import { type FetchedCertificate, certificateRequest, rememberCertificate, pemOf } from './certificate.ts';
import { type WebhookVerifier, prepareWebhook } from './prepare.ts';
import type { WebhookRequest } from './reading.ts';
import { WITHOUT_CERTIFICATE, type WebhookReason } from './reasons.ts';
import { findProvider } from './table.ts';
import { type WebhookOutcome, verifyPrepared, WEBHOOK_BODY_LIMIT_BYTES } from './verify.ts';
import type { WebhookVerificationConfig } from './module_schema.ts';

type Code = `webhook_verification.${WebhookReason}`;

/** Fetched certificates by URL. */
interface Cache {
  readonly certificates: Map<string, string>;
}

/** The responses to refused requests, created once. */
interface Refusals {
  readonly unsigned: Stop<Code>['response'];
  readonly tooLarge: Stop<Code>['response'];
  readonly late: Stop<Code>['response'];
  /** The sender is not at fault, and repeats what gets a 5xx: SNS does so, but not after a 4xx. */
  readonly withoutCertificate: Stop<Code>['response'];
}

/** Creates the handler that verifies the webhooks of a provider. */
export function compileWebhookVerification(
  config: WebhookVerificationConfig,
  linked: Linked,
): Handler<Cache> {
  const provider = findProvider(config.provider);
  if (provider === undefined) throw new Error(`unknown provider ${config.provider}`);
  const verifier = prepareWebhook(provider, config.secret);
  const refusals = refusalsOf(linked);
  const handler: Handler<Cache> = {
    initial: (): Cache => ({ certificates: new Map() }),
    onRequest: (request, _connection, cache, world) =>
      ask({ ask: 'body', limitBytes: WEBHOOK_BODY_LIMIT_BYTES }, (body) =>
        'failure' in body
          ? withoutBody(body.failure, refusals)
          : verify(verifier, asSeen(request, body.bytes), cache, world, refusals),
      ),
    reduce: (cache, event, world) => {
      const fetched =
        event.kind === 'decided' ? (event.verdict.filterData as FetchedCertificate | undefined) : undefined;
      if (fetched !== undefined) rememberCertificate(cache.certificates, fetched, world.nowMs());
    },
  };
  return handler;
}

function refusalsOf(linked: Linked): Refusals {
  return {
    unsigned: linked.refusal(
      403,
      numbers.unsigned.number,
      'This request is not signed by the webhook provider',
    ),
    tooLarge: linked.refusal(413, null, 'This request is too large to be verified'),
    late: linked.refusal(408, null, 'This request did not arrive completely'),
    withoutCertificate: linked.refusal(503, null, WITHOUT_CERTIFICATE),
  };
}

/** The request as sent; the URL is the one that the client sees and that some providers sign. */
function asSeen(request: RequestHead, body: Uint8Array): WebhookRequest {
  const { method, scheme, authority, sentTarget, headers } = request;
  return { method, url: `${scheme}://${authority}${sentTarget}`, headers, body };
}

function verify(
  verifier: WebhookVerifier,
  request: WebhookRequest,
  cache: Cache,
  world: World,
  refusals: Refusals,
): Verdict<Code> | Ask {
  const outcome = verifyPrepared(verifier, request, world.nowMs(), cache.certificates);
  if (outcome.outcome !== 'certificate') return verdictOf(verifier, outcome, refusals, undefined);
  const { url } = outcome;
  return ask({ ask: 'fetch', request: certificateRequest(url) }, (answer) => {
    const pem = pemOf(answer);
    if (pem === null) return stop('certificate_unavailable', { url }, refusals.withoutCertificate);
    const again = verifyPrepared(verifier, request, world.nowMs(), new Map([[url, pem]]));
    const verified = again.outcome === 'verified';
    return verdictOf(verifier, again, refusals, { url, pem, verified });
  });
}

function verdictOf(
  verifier: WebhookVerifier,
  outcome: WebhookOutcome,
  refusals: Refusals,
  fetched: FetchedCertificate | undefined,
): Verdict<Code> {
  const provider = verifier.provider.id;
  switch (outcome.outcome) {
    case 'verified':
      return pass({ provider, scheme: outcome.scheme, ageMs: outcome.ageMs }, fetched);
    case 'challenge':
      return stop('challenge_answered', { provider, challenge: outcome.challenge }, outcome.response);
    case 'refused':
      return stop(outcome.reason, { provider, ...outcome.detail }, refusals.unsigned, fetched);
    case 'certificate':
      return stop('certificate_unavailable', { url: outcome.url }, refusals.withoutCertificate);
  }
}

function withoutBody(failure: 'too_large' | 'timeout' | 'cancelled', refusals: Refusals): Stop<Code> {
  return failure === 'too_large'
    ? stop('body_too_large', { limitBytes: WEBHOOK_BODY_LIMIT_BYTES }, refusals.tooLarge)
    : stop('body_unavailable', { failure }, refusals.late);
}

type Detail = Stop['reason']['detail'];

function pass(detail: Detail, fetched: FetchedCertificate | undefined): Pass<Code> {
  const reason = { code: 'webhook_verification.verified', detail } as const;
  return { verdict: 'pass', reason, ...(fetched !== undefined && { filterData: fetched }) };
}

function stop(
  reason: WebhookReason,
  detail: Detail,
  response: Stop['response'],
  fetched?: FetchedCertificate,
): Stop<Code> {
  const code = { code: `webhook_verification.${reason}`, detail } as const;
  return { verdict: 'stop', reason: code, response, ...(fetched !== undefined && { filterData: fetched }) };
}
