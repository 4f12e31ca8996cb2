import type { Socket } from 'node:net';
import { type Receive, startTcpDouble } from './tcp_double.ts';
import { idOf } from './outbox.ts';

/**
 * The part of a Kafka broker that an idempotent producer sees (Apache Kafka, protocol guide): one topic with one
 * partition. Batches must have `acks=all`, a producer id, the next sequence number and a right CRC-32C.
 */

const API = {
  produce: 0,
  metadata: 3,
  handshake: 17,
  versions: 18,
  initProducer: 22,
  authenticate: 36,
} as const;
/** The versions that are offered. */
const VERSIONS = [
  [API.produce, 3],
  [API.metadata, 1],
  [API.handshake, 1],
  [API.versions, 0],
  [API.initProducer, 0],
  [API.authenticate, 0],
] as const;
const ERRORS = {
  none: 0,
  corrupt: 2,
  tooLarge: 10,
  notAuthorised: 29,
  outOfOrder: 45,
  wrongPassword: 58,
} as const;
const PRODUCER_ID = 7n;

/** What a broker asks of its clients: TLS, and SASL PLAIN (RFC 4616) with a name and a password. */
interface Admission {
  /** The name or address in the certificate. */
  readonly host: string;
  readonly certificate: { readonly pem: string; readonly key: string };
  readonly username: string;
  readonly password: string;
}

export async function startKafka(receive: Receive, topic = 'edge-events', admission?: Admission) {
  const sequences = { next: 0 };
  const host = admission?.host ?? '127.0.0.1';
  const double = await startTcpDouble((socket) => {
    const session = { isAdmitted: admission === undefined };
    return (bytes) => {
      let rest = bytes;
      while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
        const size = rest.readInt32BE(0);
        const broker = { receive, topic, sequences, host, port: socket.localPort!, admission, session };
        answer(socket, rest.subarray(4, 4 + size), broker);
        rest = rest.subarray(4 + size);
      }
      return rest;
    };
  }, admission?.certificate);
  return { url: `${host}:${double.port}`, close: double.close };
}

interface Broker {
  readonly receive: Receive;
  readonly topic: string;
  readonly sequences: { next: number };
  readonly host: string;
  readonly port: number;
  readonly admission: Admission | undefined;
  /** Of one connection. */
  readonly session: { isAdmitted: boolean };
}

function answer(socket: Socket, request: Buffer, broker: Broker): void {
  const reader = new Reader(request);
  const [key, , correlation] = [reader.int16(), reader.int16(), reader.int32()];
  reader.string();
  const body = bodyOf(key, reader, broker);
  const head = Buffer.alloc(8);
  head.writeInt32BE(4 + body.length, 0);
  head.writeInt32BE(correlation, 4);
  socket.write(Buffer.concat([head, body]));
}

function bodyOf(key: number, reader: Reader, broker: Broker): Buffer {
  const { topic, host, port, sequences, session } = broker;
  if (key === API.versions)
    return joined(
      int16(0),
      int32(VERSIONS.length),
      ...VERSIONS.flatMap(([api, version]) => [int16(api), int16(version), int16(version)]),
    );
  if (key === API.handshake)
    return joined(int16(reader.string() === 'PLAIN' ? 0 : 33), int32(1), string('PLAIN'));
  if (key === API.authenticate) {
    const given = reader.bytes(reader.int32()).toString();
    session.isAdmitted = given === `\0${broker.admission?.username}\0${broker.admission?.password}`;
    const error = session.isAdmitted ? ERRORS.none : ERRORS.wrongPassword;
    return joined(int16(error), string(session.isAdmitted ? '' : 'invalid credentials'), int32(0));
  }
  if (!session.isAdmitted) throw new Error('the client has not authenticated');
  if (key === API.metadata) {
    const node = joined(int32(1), string(host), int32(port), int16(-1));
    const partition = joined(int16(0), int32(0), int32(1), int32(1), int32(1), int32(1), int32(1));
    const known = joined(int16(0), string(topic), Buffer.from([0]), int32(1), partition);
    return joined(int32(1), node, int32(1), int32(1), known);
  }
  if (key === API.initProducer) {
    sequences.next = 0;
    return joined(int32(0), int16(0), int64(PRODUCER_ID), int16(0));
  }
  if (key !== API.produce) throw new Error(`the broker does not offer ${key}`);
  const error = produced(reader, broker);
  const stored = joined(int32(0), int16(error), int64(0n), int64(-1n));
  return joined(int32(1), string(topic), int32(1), stored, int32(0));
}

function produced(reader: Reader, { receive, topic, sequences }: Broker): number {
  reader.string();
  const acks = reader.int16();
  reader.int32();
  const shape = [reader.int32(), reader.string(), reader.int32(), reader.int32()];
  if (acks !== -1 || JSON.stringify(shape) !== JSON.stringify([1, topic, 1, 0])) return ERRORS.corrupt;
  const batch = recordsOf(new Reader(reader.bytes(reader.int32())));
  if (batch === null) return ERRORS.corrupt;
  if (batch.producer !== PRODUCER_ID || batch.sequence !== sequences.next) return ERRORS.outOfOrder;
  for (const { key, value, headers } of batch.records) {
    const { event_type: type } = JSON.parse(value) as { readonly event_type: string };
    if (key !== type || headers['event_id'] !== idOf(value)) return ERRORS.corrupt;
  }
  const refused = receive(batch.records.map(({ value }) => value));
  if (refused !== null) return refused.status === 413 ? ERRORS.tooLarge : ERRORS.notAuthorised;
  sequences.next += batch.records.length;
  return ERRORS.none;
}

interface KafkaRecord {
  readonly key: string;
  readonly value: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A record batch of version 2; null if its checksum is wrong. */
function recordsOf(reader: Reader) {
  reader.bytes(8 + 4 + 4);
  const magic = reader.bytes(1)[0];
  const crc = reader.int32() >>> 0;
  if (magic !== 2 || crc !== crc32c(reader.rest())) return null;
  reader.bytes(2 + 4 + 8 + 8);
  const producer = reader.int64();
  reader.int16();
  const sequence = reader.int32();
  const records: KafkaRecord[] = [];
  for (let left = reader.int32(); left > 0; left--) {
    reader.varint();
    reader.bytes(1);
    reader.varint();
    reader.varint();
    const key = reader.bytes(reader.varint()).toString();
    const value = reader.bytes(reader.varint()).toString();
    const headers: Record<string, string> = {};
    for (let more = reader.varint(); more > 0; more--) {
      const name = reader.bytes(reader.varint()).toString();
      headers[name] = reader.bytes(reader.varint()).toString();
    }
    records.push({ key, value, headers });
  }
  return { producer, sequence, records };
}

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  bytes(count: number): Buffer {
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }
  rest(): Buffer {
    return this.#bytes.subarray(this.#at);
  }
  int16(): number {
    return this.bytes(2).readInt16BE(0);
  }
  int32(): number {
    return this.bytes(4).readInt32BE(0);
  }
  int64(): bigint {
    return this.bytes(8).readBigInt64BE(0);
  }
  string(): string {
    const length = this.int16();
    return length < 0 ? '' : this.bytes(length).toString();
  }
  /** Zigzag, seven bits a byte. */
  varint(): number {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const [byte] = this.bytes(1);
      value |= BigInt(byte! & 127) << shift;
      if (byte! < 128) return Number((value >> 1n) ^ -(value & 1n));
    }
  }
}

/** CRC-32C (RFC 3720 §12.1), bit by bit. */
function crc32c(bytes: Buffer): number {
  let crc = ~0;
  for (const byte of bytes) {
    crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255]!;
  }
  return ~crc >>> 0;
}

const CRC_TABLE = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0x82f63b78 : value >>> 1;
  return value;
});

const joined = (...parts: readonly Buffer[]): Buffer => Buffer.concat(parts);

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function int64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(value);
  return bytes;
}

function string(text: string): Buffer {
  return joined(int16(Buffer.byteLength(text)), Buffer.from(text));
}
