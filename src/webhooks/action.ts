import { certificateRequest, rememberCertificate, pemOf } from './certificate.ts';
import { type WebhookVerifier, prepareWebhook } from './prepare.ts';
import type { WebhookRequest } from './reading.ts';
import { WEBHOOK_REASONS, WITHOUT_CERTIFICATE } from './reasons.ts';
import { numbers } from './facts.ts';
import { findProvider } from './table.ts';
import { WEBHOOK_BODY_LIMIT_BYTES, type WebhookOutcome, verifyPrepared } from './verify.ts';
import { type ActionKind, type ActionOutcome, type Compiling, stepsOf } from '../filters/action.ts';
import { ask } from '../engine/contract.ts';
import { FAILURES, Failure } from '../filters/failure.ts';
import { type PolicyRun, keepResult } from '../filters/policy_run.ts';

/** Requires webhooks to be signed by their provider, and answers the provider's challenges. */
export const verifyWebhook: ActionKind<'verify-webhook'> = {
  type: 'verify-webhook',
  compile: ({ type, config }, compiling) => {
    const verifierOf = compileVerifier(config.provider, config.secret, compiling);
    const cache = compiling.cell(() => new Map<string, string>());
    const step = stepsOf(type, WEBHOOK_REASONS, compiling.pointer, config);
    const unsigned = compiling.context.refusal(
      403,
      numbers.unsigned.number,
      'This request is not signed by the webhook provider',
    );
    // As in the module: the sender is not at fault, and repeats what gets a 5xx.
    const withoutCertificate = compiling.context.refusal(503, null, WITHOUT_CERTIFICATE);
    const { enforce } = config;

    const conclude = (policyRun: PolicyRun, outcome: WebhookOutcome): ActionOutcome => {
      if (outcome.outcome === 'challenge') {
        const come = step('challenge_answered', { challenge: outcome.challenge });
        return { verdict: 'stop', as: 'replied', step: come, response: outcome.response };
      }
      if (outcome.outcome === 'verified') {
        keepResult(policyRun, 'verify_webhook', { verified: true });
        return { verdict: 'pass', step: step('verified', { scheme: outcome.scheme }) };
      }
      const [reason, detail] =
        outcome.outcome === 'refused'
          ? [outcome.reason, outcome.detail]
          : (['certificate_unavailable', { url: outcome.url }] as const);
      const message = WEBHOOK_REASONS[reason];
      const error = { code: compiling.context.branding.errorCode(numbers.unsigned.number), message };
      keepResult(policyRun, 'verify_webhook', { verified: false, error });
      if (!enforce) return { verdict: 'pass', step: step(reason, detail) };
      const response = outcome.outcome === 'certificate' ? withoutCertificate : unsigned;
      return { verdict: 'stop', as: 'denied', step: step(reason, detail), response };
    };

    const verify = (
      policyRun: PolicyRun,
      verifier: WebhookVerifier,
      request: WebhookRequest,
    ): ActionOutcome => {
      const certificates = cache.of(policyRun);
      const outcome = verifyPrepared(verifier, request, policyRun.world.nowMs(), certificates);
      if (outcome.outcome !== 'certificate') return conclude(policyRun, outcome);
      const { url } = outcome;
      return ask({ ask: 'fetch', request: certificateRequest(url) }, (answer) => {
        const pem = pemOf(answer);
        if (pem === null) return conclude(policyRun, outcome);
        const nowMs = policyRun.world.nowMs();
        const again = verifyPrepared(verifier, request, nowMs, new Map([[url, pem]]));
        rememberCertificate(certificates, { url, pem, verified: again.outcome === 'verified' }, nowMs);
        return conclude(policyRun, again);
      });
    };

    return {
      onFailure: enforce ? null : { result: 'verify_webhook', base: { verified: false } },
      run: (policyRun) => {
        const verifier = verifierOf(policyRun);
        if (verifier instanceof Failure) return verifier;
        return ask({ ask: 'body', limitBytes: WEBHOOK_BODY_LIMIT_BYTES }, (answer) => {
          if ('failure' in answer) {
            return compiling.failure(FAILURES.action, `the body could not be read: ${answer.failure}`);
          }
          // As the sender sent it, without edits of earlier actions: the signature covers that.
          const { method, scheme, authority, sentTarget, headers } = policyRun.head!;
          const url = `${scheme}://${authority}${sentTarget}`;
          return verify(policyRun, verifier, { method, url, headers, body: answer.bytes });
        });
      },
    };
  },
};

/** The provider with its prepared secret: prepared once, unless the secret is a template. */
function compileVerifier(
  id: string,
  secret: string | undefined,
  compiling: Compiling,
): (policyRun: PolicyRun) => WebhookVerifier | Failure {
  const provider = findProvider(id);
  if (provider === undefined) {
    const unknown = compiling.failure(FAILURES.action, `the webhook provider '${id}' does not exist`);
    return () => unknown;
  }
  if (secret === undefined) {
    const verifier = prepareWebhook(provider, undefined);
    return () => verifier;
  }
  const template = compiling.template(secret, '/secret');
  if (template.constant !== null) {
    const verifier = prepareWebhook(provider, template.constant);
    return () => verifier;
  }
  return ({ activation }) => {
    const text = template.text(activation);
    return text instanceof Failure ? text : prepareWebhook(provider, text);
  };
}
