import { StoreUnavailable } from './port.ts';

/** Primary result codes (https://sqlite.org/rescode.html); extended codes have them in their last byte. */
const BUSY = 5;
const LOCKED = 6;
const READ_ONLY = 8;
const IO_ERROR = 10;
const FULL = 13;
const CANNOT_OPEN = 14;

function codeOf(error: unknown): number | null {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown };
  return typeof errcode === 'number' ? errcode & 0xff : null;
}

/** Whether another process has locked the database. */
export function isLock(error: unknown): boolean {
  const code = codeOf(error);
  return code === BUSY || code === LOCKED;
}

/** StoreUnavailable for an error that is about the machine, other errors as they are. */
export function unavailable(error: unknown): unknown {
  if (isLock(error)) {
    const message = 'Another process has locked the store; nothing was changed. Try again later.';
    return new StoreUnavailable('locked', message, error);
  }
  const code = codeOf(error);
  if (code === FULL)
    return new StoreUnavailable('full', 'The disk of the store is full; nothing was changed.', error);
  if (code !== READ_ONLY && code !== IO_ERROR && code !== CANNOT_OPEN) return error;
  const { message } = error as Error;
  return new StoreUnavailable('failed', `The store cannot be used (${message}).`, error);
}
