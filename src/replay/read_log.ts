import { connectionOf, headOf } from '../engine/request_like.ts';
import { readCurl } from '../simulator/document/curl.ts';
import { readCombined, readLoadBalancer } from './access_lines.ts';
import { readAccessObject } from './access_objects.ts';
import { type AccessRead, accessRecord } from './access_record.ts';
import { harRecords, isHar } from './har.ts';
import { NO_NAMES, type LogRecord, type Part } from './log_record.ts';
import { assembleFacts, factsOf, isEventLine } from './event_facts.ts';
import { lineForms } from './line_forms.ts';
import { boundsOfLines } from './lines.ts';
import { readEvent } from './read_event.ts';
import { isRecordingHead, readRecording } from './read_recording.ts';
import { exchangeIn } from './recorded_shape.ts';
import { errorText } from '../diagnostics/message_text.ts';

/** Reads a log line by line. */
export interface LogReader {
  /** Takes one line. Only a HAR gives several records for one line. */
  readonly line: (text: string, number: number) => void;
  /** Takes whole lines as bytes, which is quicker for lines that are alike. */
  readonly piece: (bytes: Buffer, firstLine: number) => void;
  /** Ends the log: reads a format that is one whole document and was buffered. */
  readonly end: () => void;
}

export interface LogTaker {
  readonly record: (record: LogRecord) => void;
  readonly problem: (line: number, message: string) => void;
}

const UNKNOWN_FORM =
  'this is not an event, a recorded exchange, a line of a known access log or a curl command line';

/** The first two bytes of a file that gzip has compressed (RFC 1952 §2.3.1), as text in UTF-8, which the second is not. */
const COMPRESSED = '\x1F\uFFFD';
const DECOMPRESS = 'the log is compressed: write `gunzip -c LOG | edgeproof replay -`, with the same options';

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Buffer limit for a HAR, which is one document. */
const DOCUMENT_LIMIT_UNITS = 256 * 1_024 * 1_024;

/**
 * Reads a log and detects its format from its lines: recordings, NDJSON of `http_request_complete` events, access logs
 * of other servers, curl command lines (a backslash at the end continues the line), or a HAR document over all lines.
 */
export function logReader(taken: LogTaker): LogReader {
  let document: string[] | null = null;
  let documentUnits = 0;
  let curl = '';
  const forms = lineForms(assembleFacts);
  const reader: LogReader = {
    piece: (bytes, firstLine) =>
      boundsOfLines(bytes, firstLine, (from, to, number) => {
        const facts = document === null && curl === '' ? forms.read(bytes, from, to) : null;
        if (facts === null) reader.line(bytes.toString('utf8', from, to), number);
        else give(readEvent(facts, number), number, taken);
      }),
    line: (given, number) => {
      const text = number === 1 ? withoutMark(given) : given;
      if (document !== null) {
        documentUnits += text.length;
        if (documentUnits <= DOCUMENT_LIMIT_UNITS) document.push(text);
        return;
      }
      if (text === '' || text.startsWith('#')) return;
      if (number === 1 && text.startsWith(COMPRESSED)) return taken.problem(number, DECOMPRESS);
      if (curl !== '' || /^\s*(?:\$\s+)?curl\s/.test(text)) {
        curl += `${text.replace(/^\s*\$\s+/, '')}\n`;
        if (!text.endsWith('\\')) {
          give(readCurlLine(curl, number), number, taken);
          curl = '';
        }
        return;
      }
      const access = text.startsWith('{') ? null : (readCombined(text) ?? readLoadBalancer(text));
      if (access !== null) return give(recordOf(access, number), number, taken);
      const value = parsed(text);
      if (isEventLine(value)) forms.learn(text, value);
      if (value === undefined && number === 1 && text.trimStart().startsWith('{')) document = [text];
      else if (isHar(value)) for (const each of harRecords(value)) give(each, number, taken);
      else if (value === undefined && !/^\s*[{[]/.test(text)) taken.problem(number, UNKNOWN_FORM);
      else give(readValue(value, number), number, taken);
    },
    end: () => {
      if (curl !== '') give(readCurlLine(curl, 1), 1, taken);
      if (document === null) return;
      if (documentUnits > DOCUMENT_LIMIT_UNITS) taken.problem(1, 'the HAR is too large to be read');
      const value = parsed(document.join('\n'));
      if (!isHar(value)) taken.problem(1, 'this is neither NDJSON nor a HAR');
      else for (const each of harRecords(value)) give(each, 1, taken);
    },
  };
  return reader;
}

/** Whether a log that begins with these lines has one record per line; a HAR has not. */
export function isLineByLine(piece: Buffer): boolean {
  const text = withoutMark(piece.subarray(0, FIRST_LINE_BYTES).toString());
  const first = text.split('\n').find((line) => line.trim() !== '' && !line.startsWith('#'));
  const value = first === undefined ? undefined : parsed(first);
  return value !== undefined && !isHar(value);
}

/** Whether a log that begins with these bytes can be split at any line: a HAR and curl command lines go over several. */
export function isSplittable(beginning: Buffer): boolean {
  if (beginning.length === 0 || isLineByLine(beginning)) return true;
  const first = withoutMark(beginning.subarray(0, FIRST_LINE_BYTES).toString())
    .split('\n')
    .find((line) => line.trim() !== '' && !line.startsWith('#'));
  return first === undefined || !/^\s*(?:[{[]|(?:\$\s+)?curl\s)/.test(first);
}

/** A longer first line cannot be one of our formats. */
export const FIRST_LINE_BYTES = 1 << 18;

type Read = LogRecord | { readonly problem: string } | null;

function give(read: Read, line: number, taken: LogTaker): void {
  if (read === null) return;
  if ('problem' in read) taken.problem(line, read.problem);
  else taken.record(read);
}

/** Reads a parsed line; null for a line without a record, such as the head of a recording. */
function readValue(value: unknown, line: number): Read {
  if (value === undefined) return { problem: 'this is not JSON' };
  if (isEventLine(value)) return readEvent(factsOf(value), line);
  const recorded = exchangeIn(value);
  if (recorded !== null) return 'problem' in recorded ? recorded : readRecording(recorded.exchange, line);
  if (isRecordingHead(value)) {
    return value.edgeproof_recording === 1 ? null : { problem: 'the recording has another version' };
  }
  if (isOtherEvent(value)) return null;
  const access = readAccessObject(value);
  if (access !== null) return recordOf(access, line);
  return { problem: UNKNOWN_FORM };
}

function recordOf(access: AccessRead, line: number): Read {
  return 'problem' in access ? access : accessRecord(access, line);
}

/** Events of other types are ignored. */
function isOtherEvent(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'event_type' in value;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

const CURL_LOSES: ReadonlySet<Part> = new Set<Part>([
  'request version',
  'request timing',
  'client address',
  'client port',
  'client certificate',
  'TLS handshake',
  'session',
]);

/** A request without a response: the upstream's response is not known. */
function readCurlLine(text: string, line: number): Read {
  const curl = readCurl(text);
  if ('problem' in curl) return { problem: `this command line cannot be read: ${curl.problem}` };
  const has = (name: string) => curl.headers.some(([own]) => own.toLowerCase() === name);
  const body = new TextEncoder().encode(curl.body ?? '');
  const added: (readonly [string, string])[] = [
    ...(has('user-agent') ? [] : [['user-agent', 'curl/8.0'] as const]),
    ...(has('accept') ? [] : [['accept', '*/*'] as const]),
    ...(body.length > 0 ? [['content-length', String(body.length)] as const] : []),
  ];
  try {
    const head = headOf({ method: curl.method, url: curl.url, headers: [...curl.headers, ...added] });
    const { scheme } = 'refused' in head ? head.head : head;
    return {
      line,
      head,
      connection: connectionOf({}, scheme, 0),
      atMs: 0,
      body,
      upstream: null,
      upstreamBody: null,
      fetched: null,
      outcome: null,
      keptCase: 'all',
      redacted: NO_NAMES,
      dropped: NO_NAMES,
      lost: CURL_LOSES,
    };
  } catch (error) {
    return { problem: errorText(error) };
  }
}
