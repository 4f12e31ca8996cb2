import { createPublicKey, verify } from 'node:crypto';

/**
 * An independent reader of OpenSSH certificates (PROTOCOL.certkeys), for tests. Throws for whatever it does not
 * expect, such as bytes that remain.
 */
export interface ReadCertificate {
  readonly format: string;
  readonly nonce: string;
  /** The certified key, encoded as `authorized_keys` has it. */
  readonly key: string;
  readonly serial: bigint;
  readonly type: number;
  readonly keyId: string;
  readonly principals: readonly string[];
  readonly validAfter: number;
  readonly validBefore: number;
  readonly criticalOptions: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, string>>;
  readonly reserved: string;
  readonly authority: string;
  readonly algorithm: string;
  readonly isSigned: boolean;
}

class Reader {
  at = 0;
  readonly bytes: Buffer;
  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
  take(count: number): Buffer {
    if (this.at + count > this.bytes.length) throw new Error('the certificate is cut off');
    this.at += count;
    return this.bytes.subarray(this.at - count, this.at);
  }
  string(): Buffer {
    return this.take(this.take(4).readUInt32BE());
  }
  text(): string {
    return this.string().toString('utf8');
  }
  all<Item>(one: (reader: Reader) => Item): Item[] {
    const items: Item[] = [];
    while (this.at < this.bytes.length) items.push(one(this));
    return items;
  }
}

const within = (bytes: Buffer): Reader => new Reader(bytes);
/** Numbers of parts of a key after its name. */
const PARTS: Readonly<Record<string, number>> = { 'ssh-ed25519': 1, 'ssh-rsa': 2 };

function options(bytes: Buffer): Record<string, string> {
  const pairs = within(bytes).all((reader) => {
    const name = reader.text();
    const data = within(reader.string());
    return [name, data.bytes.length === 0 ? '' : data.text()] as const;
  });
  const names = pairs.map(([name]) => name);
  if (names.join('\n') !== names.toSorted().join('\n')) throw new Error('options are not in order');
  return Object.fromEntries(pairs);
}

export function readCertificate(line: string): ReadCertificate {
  const [format = '', base64 = ''] = line.split(' ');
  const reader = within(Buffer.from(base64, 'base64'));
  if (reader.text() !== format) throw new Error('the name of the format differs');
  const nonce = reader.string().toString('hex');
  const plain = format.replace('-cert-v01@openssh.com', '');
  const start = reader.at;
  for (let left = PARTS[plain] ?? 2; left > 0; left--) reader.string();
  const name = Buffer.from(plain);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(name.length);
  const key = Buffer.concat([length, name, reader.bytes.subarray(start, reader.at)]).toString('base64');
  const serial = reader.take(8).readBigUInt64BE();
  const type = reader.take(4).readUInt32BE();
  const keyId = reader.text();
  const principals = within(reader.string()).all((each) => each.text());
  const validAfter = Number(reader.take(8).readBigUInt64BE());
  const validBefore = Number(reader.take(8).readBigUInt64BE());
  const criticalOptions = options(reader.string());
  const extensions = options(reader.string());
  const reserved = reader.text();
  const authority = reader.string();
  const signed = reader.bytes.subarray(0, reader.at);
  const signature = within(reader.string());
  if (reader.at !== reader.bytes.length) throw new Error('bytes remain');
  const algorithm = signature.text();
  return {
    format,
    nonce,
    key: `${plain} ${key}`,
    serial,
    type,
    keyId,
    principals,
    validAfter,
    validBefore,
    criticalOptions,
    extensions,
    reserved,
    authority: `${within(authority).text()} ${authority.toString('base64')}`,
    algorithm,
    isSigned: isSigned(signed, authority, algorithm, signature.string()),
  };
}

function isSigned(content: Buffer, authority: Buffer, algorithm: string, signature: Buffer): boolean {
  const reader = within(authority);
  const format = reader.text();
  const parts = reader.all((each) => each.string());
  const text = (bytes: Buffer): string => bytes.toString('base64url');
  const [first, second] = parts as [Buffer, Buffer];
  if (format === 'ssh-ed25519') {
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: text(first) }, format: 'jwk' });
    return algorithm === format && verify(null, content, key, signature);
  }
  if (format === 'ssh-rsa') {
    const key = createPublicKey({ key: { kty: 'RSA', e: text(first), n: text(second) }, format: 'jwk' });
    return algorithm === 'rsa-sha2-512' && verify('sha512', content, key, signature);
  }
  const bits = Number(/nistp(\d+)$/.exec(format)![1]);
  const size = Math.ceil(bits / 8);
  const point = { x: text(second.subarray(1, 1 + size)), y: text(second.subarray(1 + size)) };
  const key = createPublicKey({ key: { kty: 'EC', crv: `P-${bits}`, ...point }, format: 'jwk' });
  const [r, s] = within(signature).all((each) => BigInt(`0x${each.string().toString('hex')}`));
  const fixed = [r, s].map((number) => number!.toString(16).padStart(size * 2, '0')).join('');
  const hash = bits === 521 ? 'sha512' : `sha${bits}`;
  return (
    algorithm === format &&
    verify(hash, content, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(fixed, 'hex'))
  );
}
