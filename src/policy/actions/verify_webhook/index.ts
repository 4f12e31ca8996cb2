import type { Answers } from '../../../engine/contract.ts';
import { certificateRequest, rememberCertificate } from '../../../mechanisms/webhook/certificate.ts';
import { type WebhookVerifier, prepareWebhook } from '../../../mechanisms/webhook/prepare.ts';
import type { WebhookRequest } from '../../../mechanisms/webhook/reading.ts';
import { WEBHOOK_REASONS } from '../../../mechanisms/webhook/reasons.ts';
import { findProvider } from '../../../mechanisms/webhook/table.ts';
import {
  WEBHOOK_BODY_LIMIT_BYTES,
  type WebhookOutcome,
  verifyPrepared,
} from '../../../mechanisms/webhook/verify.ts';
import type { ActionKind, ActionOutcome, Compiling } from '../../action.ts';
import { stepsOf, waitFor } from '../../action.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { type Walk, keepResult } from '../../walk.ts';

/** Lets in webhooks that their provider has signed, and answers the provider's challenges. */
export const verifyWebhook: ActionKind<'verify-webhook'> = {
  type: 'verify-webhook',
  says: WEBHOOK_REASONS,
  compile: ({ type, config }, compiling) => {
    const verifierOf = compileVerifier(config.provider, config.secret, compiling);
    const cache = compiling.cell(() => new Map<string, string>());
    const step = stepsOf(type, verifyWebhook.says, compiling.pointer);
    const unsigned = compiling.context.refusal(
      403,
      3204,
      'This request is not signed by the provider of webhooks',
    );
    const { enforce } = config;

    const conclude = (walk: Walk, outcome: WebhookOutcome): ActionOutcome => {
      if (outcome.outcome === 'challenge') {
        const come = step('challenge_answered', { challenge: outcome.challenge });
        return { does: 'end', as: 'replied', step: come, response: outcome.response };
      }
      if (outcome.outcome === 'verified') {
        keepResult(walk, 'verify_webhook', { verified: true });
        return { does: 'next', step: step('verified', { scheme: outcome.scheme }) };
      }
      const [reason, detail] =
        outcome.outcome === 'refused'
          ? [outcome.reason, outcome.detail]
          : (['certificate_unavailable', { url: outcome.url }] as const);
      const message = WEBHOOK_REASONS[reason];
      const error = { code: compiling.context.naming.errorCode(3204), message };
      keepResult(walk, 'verify_webhook', { verified: false, error });
      if (!enforce) return { does: 'next', step: step(reason, { ...detail, enforced: false }) };
      return { does: 'end', as: 'denied', step: step(reason, detail), response: unsigned };
    };

    const verify = (walk: Walk, verifier: WebhookVerifier, request: WebhookRequest): ActionOutcome => {
      const certificates = cache.of(walk);
      const outcome = verifyPrepared(verifier, request, walk.world.nowMs(), certificates);
      if (outcome.outcome !== 'certificate') return conclude(walk, outcome);
      const { url } = outcome;
      return waitFor({ ask: 'fetch', request: certificateRequest(url) }, (answer) => {
        const pem = pemOf(answer);
        if (pem === null) return conclude(walk, outcome);
        const again = verifyPrepared(verifier, request, walk.world.nowMs(), new Map([[url, pem]]));
        // Only a certificate that has verified something is kept: a sender cannot fill the cache with others.
        if (again.outcome === 'verified') rememberCertificate(certificates, url, pem);
        return conclude(walk, again);
      });
    };

    return {
      onFailure: enforce ? null : { result: 'verify_webhook', base: { verified: false } },
      run: (walk) => {
        const verifier = verifierOf(walk);
        if (verifier instanceof Failure) return verifier;
        return waitFor({ ask: 'body', limitBytes: WEBHOOK_BODY_LIMIT_BYTES }, (answer) => {
          if ('failure' in answer) {
            return compiling.failure(FAILURES.action, `the body could not be read: ${answer.failure}`);
          }
          // As the sender made it, whatever earlier actions have changed: that is what is signed.
          const { method, scheme, authority, sentTarget, headers } = walk.head!;
          const url = `${scheme}://${authority}${sentTarget}`;
          return verify(walk, verifier, { method, url, headers, body: answer.bytes });
        });
      },
    };
  },
};

/** The provider with its secret made ready: once, unless the secret has to be evaluated. */
function compileVerifier(
  id: string,
  secret: string | undefined,
  compiling: Compiling,
): (walk: Walk) => WebhookVerifier | Failure {
  const provider = findProvider(id);
  if (provider === undefined) {
    const unknown = compiling.failure(FAILURES.action, `there is no webhook provider '${id}'`);
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

function pemOf(answer: Answers['fetch']): string | null {
  if ('failure' in answer || answer.status !== 200) return null;
  return Buffer.from(answer.body).toString('latin1');
}
