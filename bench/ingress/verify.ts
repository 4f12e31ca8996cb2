import { type IncomingMessage, request } from 'node:http';
import { request as secureRequest } from 'node:https';
import { gunzipSync } from 'node:zlib';
import { DENIED_AGENT, DENIED_CLIENT, HOST, RESPONSE_EDITS } from './everything_on.ts';
import type { Workload } from './workloads.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Whether a contestant does what a workload takes for granted; says what it does not, or null. */
export async function verify(workload: Workload, port: number): Promise<string | null> {
  try {
    return await faultOf(workload, port);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function faultOf(workload: Workload, port: number): Promise<string | null> {
  const answer = await ask(workload, port, {});
  if (answer.status !== 200) return `status ${answer.status}`;
  const packed = answer.headers['content-encoding'] === 'gzip';
  if (workload.gzip && workload.answerBytes > 1_000 && !packed) return 'no gzip';
  const body = packed ? gunzipSync(answer.body) : answer.body;
  if (body.length !== workload.answerBytes)
    return `${body.length} bytes of content, not ${workload.answerBytes}`;
  if (!workload.allOn) return null;
  for (const [name, value] of Object.entries(RESPONSE_EDITS.add)) {
    if (answer.headers[name.toLowerCase()] !== value) return `no ${name} in the response`;
  }
  if (answer.headers['x-internal'] !== undefined) return 'X-Internal is still in the response';
  // Without content: who refuses may close before it is read, and a reset would hide the answer.
  const bare = { ...workload, path: '/1k', bodyBytes: 0 } as const;
  const byAgent = await ask(bare, port, { agent: DENIED_AGENT });
  if (byAgent.status !== 403) return `${byAgent.status} for a denied user agent`;
  const byAddress = await ask(bare, port, { from: DENIED_CLIENT });
  return byAddress.status === 403 ? null : `${byAddress.status} for a denied address`;
}

function ask(
  { path, bodyBytes, gzip, protocol }: Workload,
  port: number,
  { agent = 'Mozilla/5.0', from }: { readonly agent?: string; readonly from?: string },
): Promise<Answer> {
  const secure = protocol !== 'http1';
  return new Promise((resolve, reject) => {
    const sent = (secure ? secureRequest : request)({
      host: '127.0.0.1',
      port,
      path,
      method: bodyBytes > 0 ? 'POST' : 'GET',
      agent: false,
      rejectUnauthorized: false,
      ...(from !== undefined && { localAddress: from }),
      headers: { host: HOST, 'user-agent': agent, ...(gzip && { 'accept-encoding': 'gzip' }) },
    });
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
      });
    });
    sent.end(Buffer.alloc(bodyBytes, 'x'));
  });
}
