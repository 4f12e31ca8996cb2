/**
 * Encodes the JSON of OTLP messages as Protocol Buffers. The tables are the parts of `opentelemetry/proto` that
 * this program sends: member, number of the field, type.
 */

type Scalar = 'string' | 'hex' | 'enum' | 'bool' | 'int64' | 'double' | 'fixed64' | 'fixed32';
type Fields = Readonly<Record<string, readonly [number: number, type: Scalar | Fields]>>;

// table: messages
const ANY_VALUE: Fields = {
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'int64'],
  doubleValue: [4, 'double'],
};
const KEY_VALUE: Fields = { key: [1, 'string'], value: [2, ANY_VALUE] };
const RESOURCE: Fields = { attributes: [1, KEY_VALUE] };
const SCOPE: Fields = { name: [1, 'string'], version: [2, 'string'] };
const SPAN: Fields = {
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'string'],
  parentSpanId: [4, 'hex'],
  name: [5, 'string'],
  kind: [6, 'enum'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, KEY_VALUE],
  status: [15, { message: [2, 'string'], code: [3, 'enum'] }],
  flags: [16, 'fixed32'],
};
const LOG_RECORD: Fields = {
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, 'enum'],
  severityText: [3, 'string'],
  body: [5, ANY_VALUE],
  attributes: [6, KEY_VALUE],
  flags: [8, 'fixed32'],
  traceId: [9, 'hex'],
  spanId: [10, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'string'],
};
const SCOPE_SPANS: Fields = { scope: [1, SCOPE], spans: [2, SPAN], schemaUrl: [3, 'string'] };
const SCOPE_LOGS: Fields = { scope: [1, SCOPE], logRecords: [2, LOG_RECORD], schemaUrl: [3, 'string'] };
const REQUEST: Fields = {
  resourceSpans: [1, { resource: [1, RESOURCE], scopeSpans: [2, SCOPE_SPANS], schemaUrl: [3, 'string'] }],
  resourceLogs: [1, { resource: [1, RESOURCE], scopeLogs: [2, SCOPE_LOGS], schemaUrl: [3, 'string'] }],
};

/** Wire types (Protocol Buffers, "Encoding"). */
const VARINT = 0;
const I64 = 1;
const LEN = 2;
const I32 = 5;

/** The bytes of `ExportTraceServiceRequest` or `ExportLogsServiceRequest`. */
export function protobufOf(request: object): Uint8Array {
  return message(request, REQUEST);
}

function message(value: object, fields: Fields): Buffer {
  const parts: Buffer[] = [];
  for (const [name, given] of Object.entries(value)) {
    const field = fields[name];
    if (field === undefined) throw new Error(`OTLP has no member ${name}`);
    const [number, type] = field;
    for (const each of Array.isArray(given) ? (given as readonly unknown[]) : [given]) {
      parts.push(
        typeof type === 'string'
          ? scalar(number, type, each)
          : delimited(number, message(each as object, type)),
      );
    }
  }
  return Buffer.concat(parts);
}

function scalar(number: number, type: Scalar, value: unknown): Buffer {
  switch (type) {
    case 'string':
      return delimited(number, Buffer.from(value as string));
    case 'hex':
      return delimited(number, Buffer.from(value as string, 'hex'));
    case 'bool':
    case 'enum':
    case 'int64':
      return Buffer.concat([tag(number, VARINT), varint(BigInt(value as number | string | boolean))]);
    case 'double': {
      const bytes = Buffer.alloc(8);
      bytes.writeDoubleLE(value as number);
      return Buffer.concat([tag(number, I64), bytes]);
    }
    case 'fixed64': {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64LE(BigInt(value as string));
      return Buffer.concat([tag(number, I64), bytes]);
    }
    case 'fixed32': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32LE(value as number);
      return Buffer.concat([tag(number, I32), bytes]);
    }
  }
}

function delimited(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([tag(number, LEN), varint(BigInt(bytes.length)), bytes]);
}

function tag(number: number, wire: number): Buffer {
  return varint(BigInt((number << 3) | wire));
}

/** Seven bits a byte, lowest first; negative numbers take ten bytes. */
function varint(value: bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, value);
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

/** What a server accepted partially; null if everything. */
export interface PartialSuccess {
  readonly rejected: bigint;
  readonly message: string;
}

/** `partial_success` (field 1: rejected 1, error_message 2) of a response; null for what cannot be read, too. */
export function partialSuccessOf(bytes: Uint8Array): PartialSuccess | null {
  const inner = fieldsOf(bytes)?.get(1);
  if (!(inner instanceof Uint8Array)) return null;
  const fields = fieldsOf(inner);
  const rejected = fields?.get(1) ?? 0n;
  const text = fields?.get(2);
  if (typeof rejected !== 'bigint') return null;
  return { rejected, message: text instanceof Uint8Array ? Buffer.from(text).toString() : '' };
}

/** Varints and delimited fields by number; null if the bytes are not a message of these. */
function fieldsOf(bytes: Uint8Array): ReadonlyMap<number, bigint | Uint8Array> | null {
  const found = new Map<number, bigint | Uint8Array>();
  let at = 0;
  const read = (): bigint => {
    let value = 0n;
    for (let shift = 0n; at < bytes.length && shift < 70n; shift += 7n) {
      const byte = bytes[at++]!;
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
    return -1n;
  };
  while (at < bytes.length) {
    const head = read();
    const value = read();
    if (head < 0n || value < 0n) return null;
    const [number, wire] = [Number(head >> 3n), Number(head & 7n)];
    if (wire === VARINT) found.set(number, value);
    else if (wire === LEN && at + Number(value) <= bytes.length) {
      found.set(number, bytes.subarray(at, at + Number(value)));
      at += Number(value);
    } else return null;
  }
  return found;
}
