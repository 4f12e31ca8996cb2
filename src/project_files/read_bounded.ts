import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

const MEBIBYTE = 1_024 * 1_024;
/** Largest input: databases of addresses have about 100 MiB, and no string more than 512. */
const LIMIT_BYTES = 256 * MEBIBYTE;

/**
 * Reads a file, or a descriptor that cannot be opened again. Pipes and devices, such as /dev/zero, may have no end. Throws
 * errors of the system, and others whose message has cause and cure.
 */
export function readBounded(from: string | 0): Buffer {
  if (from === 0) return readPieces(from);
  const stat = statSync(from);
  if (stat.isCharacterDevice() || stat.isBlockDevice())
    throw new Error('it is a device; name a regular file');
  if (stat.isFile()) {
    if (stat.size > LIMIT_BYTES) throw tooLarge();
    return readFileSync(from);
  }
  const descriptor = openSync(from, 'r');
  try {
    return readPieces(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function readPieces(descriptor: number): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0; ;) {
    const piece = Buffer.allocUnsafe(MEBIBYTE);
    const count = readSync(descriptor, piece);
    if (count === 0) return Buffer.concat(pieces);
    bytes += count;
    if (bytes > LIMIT_BYTES) throw tooLarge();
    // A pipe gives little at a time, and a view would keep the whole piece.
    pieces.push(count === piece.length ? piece : Buffer.from(piece.subarray(0, count)));
  }
}

function tooLarge(): Error {
  return new Error(`it is larger than ${LIMIT_BYTES / MEBIBYTE} MiB; use a smaller input`);
}
