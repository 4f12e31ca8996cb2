import type { Piece } from '../crypto/digest.ts';
import type { Certificates } from './certificate.ts';
import { type Examination, examine } from './examine.ts';
import { diagnose } from './diagnosis.ts';
import { durationText } from './instants.ts';
import { describePlace } from './places.ts';
import { type PreparedScheme, prepareWebhook } from './prepare.ts';
import type { Provider } from './provider.ts';
import { type Reading, type WebhookRequest, readingOf } from './reading.ts';
import { WEBHOOK_REASONS } from './reasons.ts';
import { type WebhookOutcome, expectedSignature, presentedSchemes, verifyPrepared } from './verify.ts';
import { counted } from '../diagnostics/message_text.ts';

/** One step of the verification. `ok` is null if the step has no result. */
interface ExplainStep {
  readonly ok: boolean | null;
  readonly title: string;
  readonly text: string;
}

/** A verification step by step, without the secret. */
export interface Explanation {
  readonly outcome: WebhookOutcome;
  readonly steps: readonly ExplainStep[];
  /** Likely causes, most likely first; empty if the request was accepted. */
  readonly causes: readonly string[];
}

const NO_CERTIFICATES: Certificates = new Map();
const PREVIEW_CHARACTERS = 160;

/** Verifies a request like `verifyWebhook`, and reports what was expected, signed and different. */
export function explainWebhook(
  provider: Provider,
  secret: string | undefined,
  request: WebhookRequest,
  nowMs: number,
  certificates: Certificates = NO_CERTIFICATES,
): Explanation {
  const verifier = prepareWebhook(provider, secret);
  const outcome = verifyPrepared(verifier, request, nowMs, certificates);
  const steps: ExplainStep[] = [
    step(null, 'provider', `${provider.title}, known with ${provider.certainty} certainty`),
  ];
  if (verifier.problem !== null) {
    steps.push(step(false, 'secret', verifier.problem), verdictStep(outcome));
    return { outcome, steps, causes: [] };
  }
  const reading = readingOf(request);
  const presented = presentedSchemes(verifier.schemes, reading);
  steps.push(lookedFor(verifier.schemes, presented));
  for (const scheme of presented) steps.push(...schemeSteps(scheme, reading, nowMs));
  steps.push(verdictStep(outcome));
  const causes =
    outcome.outcome === 'refused' ? diagnose(provider, secret ?? '', request, nowMs, outcome) : [];
  return { outcome, steps, causes };
}

function step(ok: boolean | null, title: string, text: string): ExplainStep {
  return { ok, title, text };
}

function lookedFor(all: readonly PreparedScheme[], presented: readonly PreparedScheme[]): ExplainStep {
  if (presented.length === 0) return step(false, 'looked for', `${placesOf(all)}: not in the request`);
  return step(true, 'looked for', `${placesOf(presented)}: in the request`);
}

function placesOf(schemes: readonly PreparedScheme[]): string {
  return [...new Set(schemes.flatMap(({ scheme }) => scheme.signature.map(describePlace)))].join(', ');
}

function schemeSteps(prepared: PreparedScheme, reading: Reading, nowMs: number): readonly ExplainStep[] {
  const examination = examine(prepared, reading);
  if ('outcome' in examination) {
    const detail = Object.values(examination.detail).join(' ');
    return [step(false, prepared.scheme.name, `${WEBHOOK_REASONS[examination.reason]} (${detail})`)];
  }
  return [
    ...timestampStep(examination, nowMs),
    step(null, 'signed', messageText(prepared, examination.messages[0]!)),
    comparisonStep(prepared, examination),
  ];
}

function timestampStep({ timestamp }: Examination, nowMs: number): readonly ExplainStep[] {
  if (timestamp === null) return [];
  const ageMs = nowMs - timestamp.ms;
  const { windowSeconds } = timestamp;
  const ok = Math.abs(ageMs) <= windowSeconds * 1000;
  const where = ageMs < 0 ? 'in the future' : 'old';
  const text = `${timestamp.text} is ${durationText(ageMs)} ${where}; ${durationText(windowSeconds * 1000)} are allowed`;
  return [step(ok, 'timestamp', text)];
}

/** The signed message with the secret masked, truncated and with control characters escaped. */
function messageText(prepared: PreparedScheme, message: readonly Piece[]): string {
  const { scheme, key } = prepared;
  if (scheme.algorithm === 'token') return 'nothing: the secret itself is sent';
  const bytes = Buffer.concat(message.map((piece) => Buffer.from(piece as string)));
  const whole = bytes.toString('utf8');
  const masked =
    scheme.signs.includes('{secret}') && key.text !== '' ? whole.replaceAll(key.text, '<secret>') : whole;
  const shown = JSON.stringify(masked.slice(0, PREVIEW_CHARACTERS));
  const more = masked.length > PREVIEW_CHARACTERS ? '…' : '';
  return `${scheme.signs}, ${counted(bytes.length, 'byte')}: ${shown}${more}`;
}

function comparisonStep(prepared: PreparedScheme, { messages, presented }: Examination): ExplainStep {
  const { scheme, key } = prepared;
  const how = scheme.algorithm.replaceAll('_', '-');
  if (scheme.algorithm === 'token') {
    const ok = presented.includes(key.text);
    const lengths = `${counted(presented[0]!.length, 'character')} presented, ${key.text.length} expected`;
    return step(
      ok,
      'compared',
      ok ? 'the token matches the secret' : `the token does not match the secret (${lengths})`,
    );
  }
  const computed = messages.map((message) => expectedSignature(prepared, message));
  if (computed[0] === null)
    return step(null, 'compared', `${how}, presented ${presented.join(', ')}: checked with the public key`);
  const ok = computed.some((signature) => signature !== null && presented.includes(signature));
  return step(ok, 'compared', `${how}, computed ${computed.join(' or ')}, presented ${presented.join(', ')}`);
}

function verdictStep(outcome: WebhookOutcome): ExplainStep {
  switch (outcome.outcome) {
    case 'verified':
      return step(true, 'verdict', WEBHOOK_REASONS.verified);
    case 'challenge':
      return step(true, 'verdict', WEBHOOK_REASONS.challenge_answered);
    case 'certificate':
      return step(null, 'verdict', `the certificate at ${outcome.url} is needed`);
    case 'refused':
      return step(false, 'verdict', WEBHOOK_REASONS[outcome.reason]);
  }
}
