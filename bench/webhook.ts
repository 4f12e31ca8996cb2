import { createHmac, createSecretKey } from 'node:crypto';
import { pathToFileURL } from 'node:url';

import { prepareWebhook } from '../src/webhooks/prepare.ts';
import type { WebhookRequest } from '../src/webhooks/reading.ts';
import { signWebhook } from '../src/webhooks/sign.ts';
import { findProvider } from '../src/webhooks/table.ts';
import { verifyPrepared } from '../src/webhooks/verify.ts';
import { type BenchRow, type BenchSection, compare, render, row } from './measure.ts';

const NOW_MS = 1_811_851_200_000;
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

/** Fields of a request besides its signature, as typical senders send them. */
const HEADERS = [
  'Host',
  'hooks.test',
  'User-Agent',
  'Sender/1.0',
  'Accept',
  '*/*',
  'Content-Type',
  'application/json',
];

function bodyOf(bytes: number): Uint8Array {
  return Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes - 11) }));
}

function signedBy(id: string, bytes: number): WebhookRequest {
  const draft = { method: 'POST', url: 'https://hooks.test/in', headers: HEADERS, body: bodyOf(bytes) };
  const signed = signWebhook(findProvider(id)!, SECRET, draft, NOW_MS);
  if ('problem' in signed) throw new Error(signed.problem);
  return signed.request;
}

/** A provider's verification of one valid signed request. */
function verification(id: string, bytes: number) {
  const verifier = prepareWebhook(findProvider(id)!, SECRET);
  const request = signedBy(id, bytes);
  const verify = () => verifyPrepared(verifier, request, NOW_MS);
  if (verify().outcome !== 'verified') throw new Error(`${id} is not let in`);
  return { name: `${id}, ${bytes / 1000} kB`, body: request.body, run: verify };
}

/** Verification of a webhook, compared with the hash that it needs in any case. */
export async function run(): Promise<BenchSection> {
  const rows: BenchRow[] = [];
  const key = createSecretKey(SECRET, 'utf8');
  const named = ['github', 'stripe', 'slack', 'svix'].flatMap((id) =>
    [1_000, 10_000].map((bytes) => verification(id, bytes)),
  );
  // All run before any is measured: an edge serves many providers with the same code.
  for (let turn = 0; turn < 20_000; turn++) for (const one of named) one.run();
  for (const one of named) {
    const bare = () => createHmac('sha256', key).update(one.body).digest('hex');
    rows.push(row(one.name, compare({ ours: one.run, 'bare HMAC': bare })));
  }
  const worst = Math.max(
    ...rows.filter(({ name }) => name.endsWith('10 kB')).map(({ ours, peers }) => ours / peers['bare HMAC']!),
  );
  const notes = [`10 kB: at most ${worst.toFixed(2)} × the bare HMAC over the same bytes; the goal is 1.5`];
  return {
    title: 'Webhook verification',
    rows,
    notes,
    floors: ['bare HMAC'],
    between:
      'the fields of the signature and of its time, the text that is signed, and a comparison in constant time',
  };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) console.log(render(await run()));
