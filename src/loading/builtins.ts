/*
 * Modules of Node that take milliseconds to load, and that most checks and cases never use: each is loaded by its first
 * call. Pages get the twins of `src/browser/builtins.ts`.
 */

const loadCrypto = () => process.getBuiltinModule('node:crypto');
const loadZlib = () => process.getBuiltinModule('node:zlib');

let crypto: ReturnType<typeof loadCrypto> | null = null;
let zlib: ReturnType<typeof loadZlib> | null = null;

/** `node:crypto`. */
export function nodeCrypto(): ReturnType<typeof loadCrypto> {
  return (crypto ??= loadCrypto());
}

/** `node:zlib`. */
export function nodeZlib(): ReturnType<typeof loadZlib> {
  return (zlib ??= loadZlib());
}
