import { closeSync, openSync, readSync, statSync } from 'node:fs';
import type { SeenKind } from '../editing/keys_seen.ts';
import { requestCookies, responseCookies } from '../policy/env/cookies.ts';
import { isLineByLine, logReader } from '../replay/read_log.ts';
import type { LogRecord } from '../replay/log_record.ts';

/** Of a longer log only the end is read; a log that is one document cannot be longer. */
const READ_LIMIT_BYTES = 2_000_000;
/** Names are taken from this many of the last requests. */
const RECORDS_LIMIT = 500;

/** The traffic of a log, as far as editors need it. */
export interface Traffic {
  readonly last: LogRecord;
  readonly names: ReadonlyMap<SeenKind, ReadonlySet<string>>;
}

interface Read {
  readonly id: string;
  readonly traffic: Traffic | null;
}

/** The end of a log that the settings name, read again when it has changed. */
export class RecordedTraffic {
  #read: Read | null = null;

  /** Null for a log without requests. */
  of(path: string): Traffic | null {
    const stat = statSync(path, { throwIfNoEntry: false });
    const id = stat === undefined ? '' : `${path} ${stat.mtimeMs} ${stat.size}`;
    if (this.#read?.id !== id)
      this.#read = { id, traffic: stat?.isFile() === true ? trafficIn(path, stat.size) : null };
    return this.#read.traffic;
  }
}

function trafficIn(path: string, size: number): Traffic | null {
  const records: LogRecord[] = [];
  const reader = logReader({
    record: (record) => {
      records.push(record);
      if (records.length > RECORDS_LIMIT) records.shift();
    },
    // What is wrong with a log is for `replay` to report.
    problem: () => undefined,
  });
  for (const [index, line] of endOf(path, size).entries()) reader.line(line, index + 1);
  reader.end();
  const last = records.at(-1);
  return last === undefined ? null : { last, names: namesOf(records) };
}

/** The lines of a file, or of its end. */
function endOf(path: string, size: number): readonly string[] {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return []; // it was removed in between, or may not be read
  }
  try {
    const start = Math.max(0, size - READ_LIMIT_BYTES);
    if (start === 0) return linesOf(piece(file, 0, size));
    if (!isLineByLine(piece(file, 0, READ_LIMIT_BYTES))) return [];
    // The first line is cut.
    return linesOf(piece(file, start, size - start)).slice(1);
  } finally {
    closeSync(file);
  }
}

function piece(file: number, start: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  return buffer.subarray(0, readSync(file, buffer, 0, length, start));
}

function linesOf(bytes: Buffer): readonly string[] {
  return bytes.toString().split(/\r?\n/);
}

function namesOf(records: readonly LogRecord[]): Traffic['names'] {
  const names = new Map<SeenKind, Set<string>>();
  const add = (kind: SeenKind, name: string): void => {
    let own = names.get(kind);
    if (own === undefined) names.set(kind, (own = new Set()));
    own.add(name);
  };
  for (const { head: given, upstream } of records) {
    const head = 'refused' in given ? given.head : given;
    eachName(head.headers, (name) => add('request_header', name.toLowerCase()));
    for (const [name] of new URLSearchParams(head.query ?? '')) add('query_parameter', name);
    for (const name of Object.keys(requestCookies(head.headers))) add('cookie', name);
    if (upstream === null || !('head' in upstream)) continue;
    eachName(upstream.head.headers, (name) => add('response_header', name.toLowerCase()));
    for (const name of Object.keys(responseCookies(upstream.head.headers))) add('cookie', name);
  }
  return names;
}

function eachName(fields: readonly string[], take: (name: string) => void): void {
  for (let at = 0; at < fields.length; at += 2) take(fields[at]!);
}
