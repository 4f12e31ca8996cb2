import type { CoveragePoint } from '../../coverage/point.ts';
import { type TlsFacts, tlsVersionNumber } from '../../engine/connection.ts';
import { USUAL_TLS } from '../../engine/request_like.ts';
import { outcomeOf } from '../expect/outcome.ts';
import type { SimulatedRequest } from '../simulated_request.ts';
import { type EditedNames, assertionsOf, assertionsOfConnection } from './assertions.ts';
import { DEFAULT_START_MS } from '../case_setting.ts';
import { visitorText, shownAnswer } from './changes.ts';
import type { DraftRun } from './run_draft.ts';
import type { Answer } from './answer_pools.ts';
import { type Draft, answersOf, beforeText, factsOf } from './draft.ts';
import { counted } from '../../diagnostics/message_text.ts';

/** A case of a scenario file, as data. */
export type WrittenCase = Readonly<Record<string, unknown>> & { readonly name: string };

/** A draft as a case that expects its actual result. */
export function writtenCase(
  name: string,
  draft: Draft,
  { simulatedRequests, connection }: DraftRun,
  names: EditedNames,
): WrittenCase {
  const { before, tls, seed, startMs, upstreams, agents } = draft;
  const facts = factsOf(draft);
  const certificate = tls?.clientCertificate;
  const base = {
    name,
    ...(seed !== 1 && { seed }),
    ...(startMs !== DEFAULT_START_MS && { clock: new Date(startMs).toISOString() }),
    ...(facts.length > 0 && { facts }),
    ...(Object.keys(agents).length > 0 && { agents }),
    ...(certificate && {
      client_certificate: {
        serial_number: certificate.serialNumber,
        subject_cn: certificate.subjectCn,
      },
    }),
  };
  const scripts = Object.keys(upstreams).length > 0 ? { upstreams } : {};
  if (draft.connect !== null && connection !== null) {
    const { kind, host, port } = draft.connect;
    const connect = { to: `${kind}://${host}:${port}`, ip: draft.ip };
    return { ...base, ...scripts, connect, expect: assertionsOfConnection(connection) };
  }
  const expect = assertionsOf(outcomeOf(simulatedRequests.at(-1)!), draft, names);
  if (before === null) return { ...base, ...scripts, request: writtenRequest(draft), expect };
  const { count, everyMs, thenMs } = before;
  const burst = {
    ...writtenRequest({ ...draft, ip: before.ip ?? draft.ip }),
    count,
    ...(everyMs > 0 && { every: `${everyMs}ms` }),
  };
  return {
    ...base,
    timeline: [
      {
        at: '0s',
        ...(Object.keys(before.upstreams).length > 0 && { upstreams: before.upstreams }),
        send: burst,
        expect: {
          counts: countsOf(
            draft.as === null ? simulatedRequests.slice(0, count) : answersTo(simulatedRequests, count),
          ),
        },
      },
      {
        advance: `${thenMs}ms`,
        ...(Object.keys(answersOf(draft)).length > 0 && { upstreams: answersOf(draft) }),
        send: writtenRequest(draft),
        expect,
      },
    ],
  };
}

/** With a login only the final response counts, as for the steps of a timeline. */
function answersTo(
  simulatedRequests: readonly SimulatedRequest[],
  count: number,
): readonly SimulatedRequest[] {
  const { sentMs } = simulatedRequests[0]!;
  return simulatedRequests.filter((simulated) => simulated.sentMs === sentMs).slice(-count);
}

function countsOf(simulatedRequests: readonly SimulatedRequest[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { response } of simulatedRequests) {
    const status = response.status === 0 ? 'none' : String(response.status);
    counts[status] = (counts[status] ?? 0) + 1;
  }
  return counts;
}

/** The request of a draft, as in a scenario. */
export function writtenRequest({
  method,
  scheme,
  host,
  path,
  query,
  headers,
  body,
  ip,
  as,
  tls,
}: Draft): Record<string, unknown> {
  const fields: Record<string, string | string[]> = {};
  for (let at = 0; at < headers.length; at += 2) {
    const [name, value] = [headers[at]!, headers[at + 1]!];
    const before = fields[name];
    fields[name] = before === undefined ? value : [...[before].flat(), value];
  }
  return {
    ...(method !== 'GET' && { method }),
    ...(scheme !== 'https' && { scheme }),
    host,
    path: query === undefined ? path : `${path}?${query}`,
    ...(headers.length > 0 && { headers: fields }),
    ...(body !== '' && { body }),
    ip,
    ...(as !== null && { as: as.name }),
    ...(tls !== null && tls.version !== USUAL_TLS.version && { tls: writtenTls(tls) }),
  };
}

function writtenTls({ version, cipherSuite, negotiatedAlpn }: TlsFacts): Record<string, string> {
  const alpn = negotiatedAlpn ?? '';
  return { version: tlsVersionNumber(version).toFixed(1), cipher_suite: cipherSuite, alpn };
}

/** A draft in one line. */
export function draftLine(draft: Draft): string {
  const { method, scheme, host, path, query, headers, ip, body, tls, seed, startMs, before, as } = draft;
  const { connect } = draft;
  const parts =
    connect !== null
      ? [`a connection to ${connect.kind}://${connect.host}:${connect.port} from ${ip}`]
      : [`${method} ${scheme}://${host}${path}${query === undefined ? '' : `?${query}`} from ${ip}`];
  if (as !== null) parts.push(`as ${visitorText(as)}`);
  for (let at = 0; at < headers.length; at += 2) parts.push(`${headers[at]!}: ${headers[at + 1]!}`);
  if (body !== '') parts.push(`a body of ${counted(body.length, 'byte')}`);
  for (const [name, value] of Object.entries(draft.variables))
    parts.push(`${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`);
  if (tls?.clientCertificate) parts.push(`certificate of ${tls.clientCertificate.subjectCn}`);
  if (startMs !== DEFAULT_START_MS) parts.push(`at ${new Date(startMs).toISOString()}`);
  if (seed !== 1) parts.push(`seed ${seed}`);
  const answers = [...new Set(Object.values(draft.upstreams).map((answer) => shownAnswer(answer as Answer)))];
  if (answers.length > 0) parts.push(`upstreams respond ${answers.join(' or ')}`);
  const offline = Object.entries(draft.agents).flatMap(([name, { online }]) =>
    online === false ? [name] : [],
  );
  if (offline.length > 0) parts.push(`with ${offline.join(' and ')} offline`);
  if (before !== null)
    parts.push(
      `after ${counted(before.count, 'such request')}${beforeText(before)}, and ${before.thenMs} ms`,
    );
  return parts.join(', ');
}

/** A case name from the points that it covers. */
export function nameFor(points: readonly Pick<CoveragePoint, 'message'>[]): string {
  const more = points.length - 1;
  return `covers: ${points[0]!.message}${more === 0 ? '' : `, and ${more} more`}`;
}
