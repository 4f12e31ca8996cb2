import { basename } from 'node:path';
import { harOf } from '../../replay/har.ts';
import { readRecording } from '../../replay/read_recording.ts';
import type { RecordedExchange } from '../../replay/recording.ts';
import { hostInCase, scenarioWriter } from '../../replay/to_scenario.ts';
import { offlineCodeOf } from '../../replay/recorded_tunnels.ts';
import { dialledBackends } from '../../simulator/case_setting.ts';
import { onlineAgents } from '../../simulator/search/draft.ts';
import type { CopyAnswer } from '../wire.ts';
import type { OfferedCase } from './append_case.ts';
import type { InspectorContext } from './context.ts';
import { redactedRecord } from './detail.ts';
import { RequestError, invalid } from './handler.ts';
import type { KeptExchange } from './kept.ts';

/** An exchange for other tools, redacted as pages see it. */
export function copyOf(kept: KeptExchange, as: string, context: InspectorContext): CopyAnswer {
  const record = redactedRecord(kept.record(), context);
  const { method, target } = record.request;
  const path = target
    .split('?')[0]!
    .replaceAll(/[^\w.-]+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .slice(0, 60);
  const name = path === '' ? method : `${method}_${path}`;
  const notes = notesOf(record);
  if (as === 'curl') return { as, text: curlOf(record), name: `${name}.sh`, notes };
  if (record.event === null)
    throw new RequestError(409, 'unavailable', 'the exchange has not ended yet; copy it when it has');
  const whole = { ...record, event: record.event };
  if (as === 'har') {
    const text = `${JSON.stringify(harOf([whole], context.version), null, 2)}\n`;
    return { as, text, name: `${name}.har`, notes };
  }
  if (as === 'case') {
    const edge = `./${basename(context.files.names()[0] ?? 'edge.yaml')}`;
    return { as, text: caseOf(whole, kept, context, edge), name: `${name}.scenario.yaml`, notes };
  }
  throw invalid('`as` must be curl, har or case');
}

/** The case of an exchange that has ended, for a file of the project. */
export function offeredCase(kept: KeptExchange, context: InspectorContext): OfferedCase {
  const record = redactedRecord(kept.record(), context);
  if (record.event === null)
    throw new RequestError(409, 'unavailable', 'the exchange has not ended yet; save it when it has');
  const whole = { ...record, event: record.event };
  const { method, target } = record.request;
  return {
    fileFor: (edge) => caseOf(whole, kept, context, edge),
    name: `${method} ${target.split('?')[0]!.slice(0, 100)}`,
  };
}

function notesOf({ request, redactions }: Omit<RecordedExchange, 'event'>): string[] {
  return [
    ...redactions.filter((at) => at.startsWith('request')).map((at) => `${at} is redacted`),
    ...(request.body.truncated === true ? ['only the beginning of the body is kept'] : []),
    ...(request.body.text === undefined && request.body.base64 === undefined && request.body.bytes !== 0
      ? ['the body is not kept']
      : []),
  ];
}

/** Fields that curl makes itself. */
const MADE: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

function curlOf({ request }: Omit<RecordedExchange, 'event'>): string {
  const { method, scheme, target, headers, body } = request;
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]!] as const] : []));
  const host = pairs.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? 'localhost';
  const parts = [
    'curl',
    ...(method === 'GET' ? [] : ['-X', quoted(method)]),
    quoted(`${scheme}://${host}${target}`),
  ];
  for (const [name, value] of pairs) {
    if (!MADE.has(name.toLowerCase()))
      parts.push('-H', quoted(value === '' ? `${name};` : `${name}: ${value}`));
  }
  if (body.text !== undefined && body.text !== '') parts.push('--data-binary', quoted(body.text));
  const text = parts.join(' ');
  return body.base64 === undefined ? text : `base64 -d <<< ${quoted(body.base64)} | ${text} --data-binary @-`;
}

/** A word for a POSIX shell. */
function quoted(text: string): string {
  return /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function caseOf(
  exchange: RecordedExchange,
  { seq }: KeptExchange,
  { watch }: InspectorContext,
  edge: string,
): string {
  const record = readRecording(exchange, seq);
  if ('problem' in record) throw invalid(record.problem);
  const { config, hosts, adoptHosts } = watch.edge.runtime.current();
  const has = (host: string): boolean => hosts.find(host) !== null;
  const writer = scenarioWriter({
    edge,
    backends: dialledBackends(config),
    agents: onlineAgents(config),
    offlineCode: offlineCodeOf(config.service_name),
    hostOf: (host) => hostInCase(host, has, config, adoptHosts !== 'none'),
  });
  writer.take(record);
  return writer.text();
}
