import type { ExpectedReply, ExchangeCase } from './case.ts';
import type { Played } from './play.ts';
import { PROOF_TARGET, type Recorded } from './recording_upstream.ts';
import type { StrictMessage } from './strict_http.ts';

/** The differences from the expectations of a case; empty when there are none. */
export function judge(one: ExchangeCase, played: Played, recorded: Recorded): string[] {
  return [...judgeClient(one, played), ...judgeUpstream(one, recorded)];
}

function judgeClient(one: ExchangeCase, played: Played): string[] {
  const message: string[] = [];
  if (played.inVain !== null) message.push(`waited in vain for ${JSON.stringify(played.inVain)}`);
  if (played.violation !== null) message.push(`the response is not strict HTTP: ${played.violation}`);
  const replies = [...played.replies];
  let cut = false;
  for (const expected of one.gets) {
    if (expected.cut === true) {
      cut = true;
      message.push(...judgeCut(expected, played, replies.length));
      continue;
    }
    if (expected.optional === true) {
      while (replies[0] !== undefined && isStatus(replies[0], expected)) replies.shift();
      continue;
    }
    const reply = replies.shift();
    if (reply === undefined)
      message.push(`no response ${String(expected.status)}; got ${quoted(played.rest)}`);
    else message.push(...judgeReply(reply, expected));
  }
  if (replies.length > 0) message.push(`${replies.length} responses too many: ${replies[0]!.line}`);
  if (!cut && played.rest !== (one.tunnelBack ?? ''))
    message.push(`after the responses: ${quoted(played.rest)}`);
  if (one.after === 'closed' && !played.closed) message.push('the connection is still open');
  if (one.after === 'open' && played.proved !== true)
    message.push('another request on the connection has no answer');
  return message;
}

function judgeCut(expected: ExpectedReply, played: Played, more: number): string[] {
  if (more > 0) return ['a response that broke off upstream ends as if it were complete'];
  if (!played.closed) return ['a response that cannot be completed is left open'];
  const status = Number(played.rest.slice(9, 12));
  if (expected.body !== undefined && !played.rest.includes(expected.body)) {
    return [`the first part of the response is missing: ${quoted(played.rest)}`];
  }
  return status === expected.status
    ? []
    : [`status ${status} before the cut, not ${String(expected.status)}`];
}

function isStatus(reply: StrictMessage, expected: ExpectedReply): boolean {
  return [expected.status].flat().includes(Number(reply.line.slice(9, 12)));
}

function judgeReply(reply: StrictMessage, expected: ExpectedReply): string[] {
  const message = isStatus(reply, expected) ? [] : [`${reply.line}, not ${String(expected.status)}`];
  return [...message, ...judgeMessage(reply, expected)];
}

function judgeMessage(
  message: StrictMessage,
  expected: Pick<ExpectedReply, 'body' | 'has' | 'lacks' | 'trailers'> & { readonly framing?: string },
): string[] {
  const says: string[] = [];
  const { line } = message;
  if (expected.body !== undefined && message.body !== expected.body) {
    says.push(`${line}: content ${quoted(message.body)}, not ${quoted(expected.body)}`);
  }
  if (expected.framing !== undefined && message.framing !== expected.framing) {
    says.push(`${line}: framing ${message.framing}, not ${expected.framing}`);
  }
  const fields = message.fields.map(([name, value]) => `${name}: ${value}`);
  for (const field of expected.has ?? []) {
    const times = fields.filter((there) => there === field).length;
    if (times !== 1) says.push(`${line}: ${times} times ${field} in ${fields.join(', ')}`);
  }
  for (const name of expected.lacks ?? []) {
    if (message.fields.some(([there, value]) => there === name || `${there}: ${value}` === name))
      says.push(`${line}: has ${name}`);
  }
  if (expected.trailers !== undefined) {
    const trailers = message.trailers.map(([name, value]) => `${name}: ${value}`).join(', ');
    if (trailers !== expected.trailers.join(', ')) says.push(`${line}: trailers ${quoted(trailers)}`);
  }
  return says;
}

function judgeUpstream(one: ExchangeCase, recorded: Recorded): string[] {
  const message: string[] = [];
  // Bytes of another protocol are not parsed here.
  if (one.tunnel === undefined)
    message.push(...recorded.violations.map((said) => `the upstream got invalid HTTP: ${said}`));
  const requests = recorded.requests.filter(({ line }) => !line.startsWith(`GET ${PROOF_TARGET} `));
  if (requests.length !== one.forwards.length) {
    const lines = requests.map(({ line }) => line).join(', ');
    message.push(`the upstream got ${requests.length} requests (${lines}), not ${one.forwards.length}`);
  }
  for (const [index, expected] of one.forwards.entries()) {
    const request = requests[index];
    if (request === undefined) continue;
    if (request.line !== expected.line)
      message.push(`the upstream got ${request.line}, not ${expected.line}`);
    message.push(...judgeMessage(request, expected).map((said) => `upstream: ${said}`));
  }
  if (one.tunnel !== undefined) {
    if (recorded.rest !== one.tunnel) message.push(`the tunnel carried ${quoted(recorded.rest)}`);
  } else if (recorded.rest !== '' && one.partial !== true) {
    message.push(`the upstream also got ${quoted(recorded.rest)}`);
  }
  return message;
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 160 ? `${text.slice(0, 160)}…` : text);
}
