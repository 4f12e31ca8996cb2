import type { EdgeConfig } from '../edge/document/schema.ts';
import { hostBehind } from '../edge/hosts.ts';
import { isRedacted } from '../http/secrets.ts';
import { isLoopback } from '../net/private_hosts.ts';
import { defaultHost } from '../simulator/case_setting.ts';
import { type LogRecord, fieldLoss } from './log_record.ts';

export interface ScenarioOptions {
  /** Path of the edge file, as written to the scenario. */
  readonly edge: string;
  /** Backends that can be scripted. */
  readonly backends: readonly string[];
  /** Agents for the backends that need one, by name. */
  readonly agents: Readonly<Record<string, object>>;
  /** The error code of responses where no agent was online. */
  readonly offlineCode: string;
  /** The host that the edge has for the host of a record; by default the same. */
  readonly hostOf?: (host: string) => string;
}

/**
 * The host with which a case reaches the edge that `dev` serves under `host`: `shop.test` for `shop.test.localhost`, and where
 * `adopts` is true the host of the only edge for a name or an address of this machine. `has` tells whether an edge has a host.
 */
export function hostInCase(
  host: string,
  has: (host: string) => boolean,
  config: EdgeConfig,
  adopts = false,
): string {
  if (has(host)) return host;
  const behind = hostBehind(host);
  if (behind !== null && has(behind)) return behind;
  const isAdopted = adopts && isLoopback(host) && Object.keys(config.edges.https).length === 1;
  return isAdopted ? defaultHost(config) : host;
}

/** Fields that a scenario generates itself. */
const MADE: ReadonlySet<string> = new Set(['host', 'content-length', 'transfer-encoding', 'connection']);

/** Builds the cases of a scenario file from records, without duplicates. */
export function scenarioWriter(options: ScenarioOptions): {
  readonly take: (record: LogRecord) => void;
  readonly text: () => string;
} {
  const { edge, agents } = options;
  const cases = new Map<string, string>();
  const head = [
    `edge: ${JSON.stringify(edge)}`,
    ...(Object.keys(agents).length > 0 ? [`agents: ${JSON.stringify(agents)}`] : []),
  ];
  return {
    take: (record) => {
      const body = caseOf(record, options);
      const key = body.join('\n');
      if (!cases.has(key))
        cases.set(key, [`  - name: ${nameOf(record, cases.size + 1)}`, ...body].join('\n'));
    },
    text: () => [...head, 'cases:', ...(cases.size === 0 ? ['  []'] : cases.values()), ''].join('\n'),
  };
}

function nameOf({ head, line }: LogRecord, number: number): string {
  const { method, path } = 'refused' in head ? head.head : head;
  return JSON.stringify(`${number}: ${method} ${path} (line ${line})`);
}

/** YAML with JSON values, so that log content needs no further quoting. */
function caseOf(record: LogRecord, options: ScenarioOptions): string[] {
  const { backends, agents, offlineCode } = options;
  const { head, connection, body, upstream, outcome } = record;
  const { method, headers } = 'refused' in head ? head.head : head;
  const lines = [
    '    request:',
    `      method: ${JSON.stringify(method)}`,
    `      url: ${JSON.stringify(urlOf(head, options))}`,
  ];
  if (!record.lost.has('client address')) lines.push(`      ip: ${JSON.stringify(connection.client.text)}`);
  const fields = fieldLines(record, headers);
  if (fields.length > 0) lines.push('      headers:', ...fields);
  const text = body === null ? null : textOf(body);
  if (text === null) lines.push('      # the body is not in the log');
  else if (text !== '') lines.push(`      body: ${JSON.stringify(text)}`);
  if (outcome?.errorCode === offlineCode) {
    const offline = Object.keys(agents).map((name) => [name, { online: false }]);
    lines.push(`    agents: ${JSON.stringify(Object.fromEntries(offline))}`);
  }
  if (upstream !== null && backends.length > 0) {
    lines.push('    upstreams:');
    for (const name of backends)
      lines.push(`      ${JSON.stringify(name)}: ${JSON.stringify(answerOf(upstream))}`);
  }
  if (outcome === null) return [...lines, '    expect: snapshot'];
  lines.push('    expect:', `      status: ${outcome.status}`);
  const decided = Object.entries(outcome.decisions ?? {}).filter(([, decision]) => decision !== 'invalid');
  if (decided.length > 0) lines.push(`      decisions: ${JSON.stringify(Object.fromEntries(decided))}`);
  return lines;
}

/** The port of a local name is that of `dev`, not of the edge. */
function urlOf(given: LogRecord['head'], { hostOf }: ScenarioOptions): string {
  const { scheme, authority, host, path, query } = 'refused' in given ? given.head : given;
  const served = hostOf?.(host) ?? host;
  return `${scheme}://${served === host ? authority : served}${path}${query === undefined ? '' : `?${query}`}`;
}

function fieldLines(record: LogRecord, headers: readonly string[]): string[] {
  const values = new Map<string, string[]>();
  const lines: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (MADE.has(name)) continue;
    const value = headers[at + 1]!;
    const all = values.get(name);
    if (isRedacted(value)) lines.push(`        # ${name} was redacted in the log`);
    else if (all === undefined) values.set(name, [value]);
    else all.push(value);
  }
  for (const [name, all] of values) {
    const note = fieldLoss(record, headers, name) === 'case' ? '  # letter case is not in the log' : '';
    lines.push(`        ${JSON.stringify(name)}: ${JSON.stringify(all.length === 1 ? all[0] : all)}${note}`);
  }
  return values.size === 0 && lines.length > 0 ? [...lines, '        {}'] : lines;
}

const FAULTS: Readonly<Record<string, string>> = {
  connect: 'refuse',
  timeout: 'hang',
  reset: 'reset',
  invalid: 'invalid',
};

function answerOf(upstream: NonNullable<LogRecord['upstream']>): unknown {
  return 'failure' in upstream ? (FAULTS[upstream.failure] ?? 'reset') : { status: upstream.head.status };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
