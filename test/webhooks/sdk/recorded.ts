import { readFileSync } from 'node:fs';
import { findProvider } from '../../../src/webhooks/table.ts';
import type { WebhookRequest } from '../../../src/webhooks/reading.ts';
import { signWebhook } from '../../../src/webhooks/sign.ts';
import { JSON_BODIES, requestOf, textOf } from '../requests.ts';
import type { SdkCase } from './case.ts';

/** What the libraries of providers signed, and let in: recorded from them, for machines that do not have them. */
export const RECORDED_FILE = new URL('../../../fixtures/webhook_libraries.json', import.meta.url);

interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly string[];
  readonly body: string;
}

export interface Recorded {
  readonly provider: string;
  readonly scheme: string;
  readonly library: string;
  readonly isOwn: boolean;
  readonly secret: string;
  /** What the receiver is given, where that is another secret. */
  readonly checking?: string;
  readonly nowMs: number;
  /** Requests that the library signed. */
  readonly signed: readonly RecordedRequest[];
  /** Requests that ours signed and the library let in. */
  readonly accepted: readonly RecordedRequest[];
}

export const RECORDED: readonly Recorded[] = JSON.parse(readFileSync(RECORDED_FILE, 'utf8')) as Recorded[];

/** Long ones show no more, and would make the file long. */
const LONGEST_BODY = 300;

export function asRequest({ body, ...rest }: RecordedRequest): WebhookRequest {
  return { ...rest, body: Buffer.from(body, 'utf8') };
}

const asRecorded = (request: WebhookRequest): RecordedRequest => ({
  method: request.method,
  url: request.url,
  headers: [...request.headers],
  body: textOf(request),
});

/** What a library says of each short body at one time; its clock has to show that time. */
export async function record(sdk: SdkCase, nowMs: number): Promise<Recorded> {
  const headers = sdk.headers ?? { 'Content-Type': 'application/json' };
  const drafts = (sdk.bodies ?? JSON_BODIES)
    .filter((body) => body.length <= LONGEST_BODY)
    .map((body) => requestOf({ headers, body, ...(sdk.method === undefined ? {} : { method: sdk.method }) }));
  const { provider, scheme, library, isOwn, secret, checking } = sdk;
  const signed: RecordedRequest[] = [];
  const accepted: RecordedRequest[] = [];
  for (const draft of drafts) {
    if (sdk.sign !== undefined) signed.push(asRecorded(await sdk.sign(draft, secret, nowMs)));
    const ours = signWebhook(findProvider(provider)!, secret, draft, nowMs, { scheme });
    if ('problem' in ours) throw new Error(`${provider}: ${ours.problem}`);
    if (sdk.accepts !== undefined && (await sdk.accepts(ours.request, checking ?? secret))) {
      accepted.push(asRecorded(ours.request));
    }
  }
  const pair = checking === undefined ? { secret } : { secret, checking };
  return { provider, scheme, library, isOwn, ...pair, nowMs, signed, accepted };
}
