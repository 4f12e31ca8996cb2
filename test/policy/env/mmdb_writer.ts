import type { Cidr } from '../../../src/net/cidr.ts';

/** Plain data that a MaxMind database can hold; numbers with a fraction are doubles, others unsigned. */
export type Data = string | number | boolean | bigint | readonly Data[] | { readonly [key: string]: Data };

interface Node {
  children: [Node | number | null, Node | number | null];
}

export interface WriterOptions {
  readonly recordBits?: 24 | 28 | 32;
  readonly ipVersion?: 4 | 6;
  readonly databaseType?: string;
}

/** Writes a small database in the MaxMind DB format 2.0, later ranges over earlier ones. Bytes are taken as they are. */
export function writeMmdb(
  rows: readonly (readonly [Cidr, Data | Uint8Array])[],
  options: WriterOptions = {},
): Buffer {
  const { recordBits = 28, ipVersion = 6, databaseType = 'Test' } = options;
  const chunks: Buffer[] = [];
  let offset = 0;
  const root: Node = { children: [null, null] };
  for (const [cidr, data] of rows) {
    const encoded = data instanceof Uint8Array ? Buffer.from(data) : encode(data);
    insert(root, bitsOf(cidr, ipVersion), offset);
    chunks.push(encoded);
    offset += encoded.length;
  }
  const nodes: Node[] = [root];
  for (const node of nodes)
    for (const child of node.children) if (typeof child === 'object' && child !== null) nodes.push(child);
  const index = new Map(nodes.map((node, at) => [node, at]));
  const record = (child: Node | number | null): number => {
    if (child === null) return nodes.length;
    return typeof child === 'number' ? nodes.length + 16 + child : index.get(child)!;
  };
  const tree = Buffer.concat(
    nodes.map(({ children: [left, right] }) => nodeBytes(record(left), record(right), recordBits)),
  );
  const metadata = encode({
    node_count: nodes.length,
    record_size: recordBits,
    ip_version: ipVersion,
    database_type: databaseType,
    languages: ['en'],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_700_000_000n,
    description: { en: 'test' },
  });
  return Buffer.concat([
    tree,
    Buffer.alloc(16),
    ...chunks,
    Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'),
    metadata,
  ]);
}

function bitsOf({ address, bits }: Cidr, ipVersion: 4 | 6): number[] {
  const words =
    address.family === 4 && ipVersion === 4 ? [address.w3] : [address.w0, address.w1, address.w2, address.w3];
  const length = address.family === 4 && ipVersion === 6 ? bits + 96 : bits;
  return words
    .flatMap((word) => Array.from({ length: 32 }, (_, bit) => (word >>> (31 - bit)) & 1))
    .slice(0, length);
}

function insert(root: Node, bits: readonly number[], value: number): void {
  let node = root;
  for (const [depth, bit] of bits.entries()) {
    if (depth === bits.length - 1) {
      node.children[bit] = value;
      return;
    }
    const child = node.children[bit] ?? null;
    // A shorter range that is already there goes on below, beside the longer one.
    const inner: Node = typeof child === 'object' && child !== null ? child : { children: [child, child] };
    node.children[bit] = inner;
    node = inner;
  }
}

function nodeBytes(left: number, right: number, recordBits: 24 | 28 | 32): Buffer {
  const bytes = Buffer.alloc(recordBits / 4);
  if (recordBits === 32) {
    bytes.writeUInt32BE(left, 0);
    bytes.writeUInt32BE(right, 4);
  } else {
    bytes.writeUIntBE(left & 0xffffff, 0, 3);
    bytes.writeUIntBE(right & 0xffffff, recordBits === 24 ? 3 : 4, 3);
    if (recordBits === 28) bytes[3] = ((left >>> 24) << 4) | (right >>> 24);
  }
  return bytes;
}

/** A control byte, its extension and its size, then the payload. */
function tagged(type: number, size: number, payload: Buffer): Buffer {
  const head: number[] = [];
  const [short, more] =
    size < 29 ? [size, []] : size < 285 ? [29, [size - 29]] : [30, [(size - 285) >>> 8, (size - 285) & 255]];
  if (type > 7) head.push(short, type - 7);
  else head.push((type << 5) | short);
  return Buffer.concat([Buffer.from([...head, ...more]), payload]);
}

export function encode(data: Data): Buffer {
  if (typeof data === 'string') {
    const bytes = Buffer.from(data);
    return tagged(2, bytes.length, bytes);
  }
  if (typeof data === 'boolean') return tagged(14, data ? 1 : 0, Buffer.alloc(0));
  if (typeof data === 'bigint') return tagged(9, 8, bigBytes(data));
  if (typeof data === 'number') return encodeNumber(data);
  if (Array.isArray(data)) return tagged(11, data.length, Buffer.concat((data as Data[]).map(encode)));
  const entries = Object.entries(data);
  return tagged(
    7,
    entries.length,
    Buffer.concat(entries.flatMap(([key, value]) => [encode(key), encode(value)])),
  );
}

function bigBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

function encodeNumber(value: number): Buffer {
  if (Number.isInteger(value) && value >= 0) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    // Leading zero bytes are left out, as writers do.
    const first = Math.min(4, Math.clz32(value) >>> 3);
    return tagged(6, 4 - first, bytes.subarray(first));
  }
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return tagged(3, 8, bytes);
}
