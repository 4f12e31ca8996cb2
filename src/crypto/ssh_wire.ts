/** Data types of the SSH protocol (RFC 4251 §5). */

/** A `string`: bytes with their length; text is encoded as UTF-8. */
export function sshString(value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([uint32(bytes.length), bytes]);
}

/** Strings, one after another. */
export function sshStrings(values: readonly (string | Uint8Array)[]): Buffer {
  return Buffer.concat(values.map(sshString));
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}

/** An `mpint` that is not negative, from its bytes (big-endian). */
export function mpint(bytes: Uint8Array): Buffer {
  const start = bytes.findIndex((byte) => byte !== 0);
  const digits = start < 0 ? new Uint8Array() : bytes.subarray(start);
  const isSigned = (digits[0] ?? 0) >= 0x80;
  return sshString(isSigned ? Buffer.concat([Buffer.of(0), digits]) : digits);
}

/** The strings that some bytes consist of; null if the last one is incomplete. */
export function readSshStrings(bytes: Buffer): readonly Buffer[] | null {
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    if (at + 4 > bytes.length) return null;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return null;
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}
