import { type Answer, type Question, ask } from './ask.ts';
import { DENIED_AGENT, DENIED_CLIENT, REQUEST_EDITS, RESPONSE_EDITS } from './everything_on.ts';
import { contentOf, headersFor } from './requests.ts';
import type { Workload } from './workloads.ts';

/** Where a contestant listens for a workload, and its upstream. */
export interface Ports {
  readonly port: number;
  readonly upstreamPort: number;
}

/**
 * Whether a contestant does what a workload takes for granted: the upstream's answer comes byte by byte, the upstream
 * gets what was sent, and what is on works. Says what is not so, or null.
 */
export async function verify(workload: Workload, ports: Ports): Promise<string | null> {
  try {
    return (
      (await faultOfAnswer(workload, ports)) ??
      (await faultOfRequest(workload, ports)) ??
      (workload.allOn ? await faultOfRefusals(workload, ports) : null)
    );
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function questionOf(workload: Workload, port: number, path: string): Question {
  const { protocol, bodyBytes } = workload;
  return { port, protocol, path, bodyBytes, headers: headersFor(workload) };
}

/** Fields that a proxy may set itself. */
const OWN_WORDS = new Set(['connection', 'keep-alive', 'date', 'server', 'transfer-encoding', 'vary', 'via']);

async function faultOfAnswer(workload: Workload, { port, upstreamPort }: Ports): Promise<string | null> {
  // Of 1 GiB, one MiB is compared.
  const question = questionOf(workload, port, workload.path === '/1g' ? '/1m' : workload.path);
  const direct = await ask({ ...question, port: upstreamPort, protocol: 'http1' });
  const answer = await ask(question);
  if (answer.status !== direct.status) return `status ${answer.status}`;
  if (answer.packed !== workload.gzip) return answer.packed ? 'unsolicited gzip' : 'no gzip';
  if (!answer.body.equals(direct.body)) return 'the content is not what the upstream sent';
  const expected = new Map(Object.entries(direct.headers));
  if (answer.packed) expected.delete('content-length');
  if (workload.allOn) {
    for (const name of RESPONSE_EDITS.remove) expected.delete(name.toLowerCase());
    for (const [name, value] of Object.entries(RESPONSE_EDITS.add)) expected.set(name.toLowerCase(), value);
  }
  return faultOfHeaders(expected, answer);
}

function faultOfHeaders(expected: ReadonlyMap<string, string>, { headers, packed }: Answer): string | null {
  for (const [name, value] of expected) {
    if (!OWN_WORDS.has(name) && headers[name] !== value)
      return `the response has ${name}: ${headers[name] ?? 'none'}`;
  }
  const more = Object.keys(headers).filter(
    (name) =>
      !expected.has(name) &&
      !OWN_WORDS.has(name) &&
      !(packed && (name === 'content-length' || name === 'content-encoding')),
  );
  return more.length === 0 ? null : `the response has ${more.join(', ')} too`;
}

/** What the upstream reports that it received: the head, then the number of bytes of content, and their checksum. */
async function faultOfRequest(workload: Workload, { port }: Ports): Promise<string | null> {
  const question = questionOf(workload, port, '/echo?of=this&and=that');
  const echoed = (await ask(question)).body.toString('latin1');
  const [head = '', content = ''] = echoed.split('\r\n\r\n');
  const [line, ...lines] = head.split('\r\n');
  const method = workload.bodyBytes > 0 ? 'POST' : 'GET';
  if (line !== `${method} ${question.path} HTTP/1.1`) return `the upstream got ${line}`;
  const got = new Map<string, string>();
  for (const each of lines) {
    const name = each.slice(0, each.indexOf(':')).toLowerCase();
    if (got.has(name)) return `the upstream got ${name} twice`;
    got.set(name, each.slice(name.length + 1).trim());
  }
  for (const [name, value] of expectedUpstream(workload)) {
    const there = got.get(name) ?? null;
    if (there !== value) return `the upstream got ${name}: ${there ?? 'none'}`;
  }
  const told = `${workload.bodyBytes} ${sumOf(contentOf(workload.bodyBytes))}`;
  return content.trim() === told ? null : 'the upstream got another content';
}

/** Null: absent. A proxy that compresses may change `Accept-Encoding`, and `Host` may be the upstream's. */
function expectedUpstream(workload: Workload): Map<string, string | null> {
  const { Host: _host, 'Accept-Encoding': _encoding, ...sent } = headersFor(workload);
  const expected = new Map<string, string | null>();
  for (const [name, value] of Object.entries(sent)) expected.set(name.toLowerCase(), value);
  if (!workload.allOn) return expected;
  for (const name of REQUEST_EDITS.remove) expected.set(name.toLowerCase(), null);
  for (const [name, value] of Object.entries(REQUEST_EDITS.add)) expected.set(name.toLowerCase(), value);
  return expected;
}

/** FNV-1a in 32 bits, as the upstream does it. */
function sumOf(bytes: Buffer): string {
  let sum = 2_166_136_261;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 16_777_619);
  return (sum >>> 0).toString(16).padStart(8, '0');
}

async function faultOfRefusals(workload: Workload, { port }: Ports): Promise<string | null> {
  // Without content: a proxy that refuses may close before reading it, and a reset would hide the response.
  const question = questionOf({ ...workload, bodyBytes: 0 }, port, '/1k');
  const byAgent = await ask({ ...question, headers: { ...question.headers, 'User-Agent': DENIED_AGENT } });
  if (byAgent.status !== 403) return `${byAgent.status} for a denied user agent`;
  const byAddress = await ask({ ...question, from: DENIED_CLIENT });
  return byAddress.status === 403 ? null : `${byAddress.status} for a denied address`;
}
