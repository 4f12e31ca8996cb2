/**
 * Frees the memory of bytes at once, instead of when it is collected; they are empty afterwards, and so is all that shares
 * their memory. For bytes that nothing else refers to. Those from the pool that Node keeps for small buffers stay.
 */
export function freeMemory(bytes: Uint8Array<ArrayBuffer>): void {
  const { buffer } = bytes;
  if (buffer.byteLength === Buffer.poolSize) return;
  try {
    buffer.transfer(0);
  } catch {
    // A pool of another size: the embedder has changed it. Pools cannot be detached.
  }
}
