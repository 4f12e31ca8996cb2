/**
 * Frees the memory of bytes at once, instead of when it is collected; they are empty afterwards, and so is all that shares
 * their memory. For bytes that nothing else refers to, and that are not of the pool which Node keeps for small buffers.
 */
export function freeMemory(bytes: Uint8Array<ArrayBuffer>): void {
  try {
    bytes.buffer.transfer(0);
  } catch {
    // It is of the pool after all, which cannot be detached: a later collection frees it.
  }
}
