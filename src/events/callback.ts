import { hmac, hmacKey } from '../crypto/digest.ts';

const CALLBACK_TIMEOUT_MS = 10_000;

export interface CallbackSettings {
  readonly url: string;
  readonly secret: string;
}

/** A request to a callback. */
interface Posting {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** Dependencies of callbacks. */
export interface CallbackWorld {
  readonly nowMs: () => number;
  /**
   * POSTs and returns the response status; rejects if there is no response. Also restricts the reachable
   * addresses.
   */
  readonly post: (url: string, posting: Posting) => Promise<number>;
}

/**
 * The message for every failed attempt. API keys can choose the URL and read the status, so it must not
 * distinguish closed ports from silent ones, or names of private addresses from unknown names.
 */
const NOT_ACCEPTED = 'the callback did not accept the events';

/**
 * Posts batches to a URL, signed according to Standard Webhooks: HMAC-SHA256 over id, timestamp and body,
 * joined by dots. A repeated batch has the same id. Redirects count as failures, like every status except
 * 2xx.
 */
export function callback(
  { url, secret }: CallbackSettings,
  world: CallbackWorld,
): (events: readonly string[], ending: AbortSignal) => Promise<string | null> {
  const key = hmacKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  return async (events, ending) => {
    const body = `{"events":[${events.join(',')}]}`;
    const first = JSON.parse(events[0]!) as { readonly event_id: string };
    const id = `batch_${first.event_id}_${events.length}`;
    const timestamp = String(Math.floor(world.nowMs() / 1000));
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${hmac('sha256', key, [`${id}.${timestamp}.${body}`], 'base64')}`,
    };
    const signal = AbortSignal.any([ending, AbortSignal.timeout(CALLBACK_TIMEOUT_MS)]);
    const status = await world.post(url, { headers, body, signal }).catch(() => null);
    return status !== null && status >= 200 && status < 300 ? null : NOT_ACCEPTED;
  };
}
