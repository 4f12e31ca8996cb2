import { StoreUnavailable, type Unavailability } from './port.ts';

/** Error codes of PostgreSQL (appendix A of its manual), whole or their class of two characters. */
// table: codes and why the database cannot be used
const REASONS: Readonly<Record<string, Unavailability>> = {
  // A lock was not available, or another transaction was in the way.
  '55P03': 'locked',
  '40': 'locked',
  '53100': 'full',
  // Connections: cut, refused by number, ended by the administrator or a timeout.
  '08': 'failed',
  '53': 'failed',
  '57': 'failed',
  '25P03': 'failed',
  // A standby, or a database that was made read-only.
  '25006': 'failed',
  // Errors of the system under the database, and damaged data.
  '58': 'failed',
  XX: 'failed',
  // What an administrator has changed: the password, the database, the schema, privileges or tables.
  '28': 'failed',
  '3D': 'failed',
  '3F': 'failed',
  '42501': 'failed',
  '42P01': 'failed',
};

function codeOf(error: unknown): string | null {
  const { code, severity } = (error ?? {}) as { readonly code?: unknown; readonly severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' ? code : null;
}

/** StoreUnavailable for an error that ends the connection, other errors as they are. */
export function cutOff(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  const isEnd = code === null || code.startsWith('57P') || code.startsWith('08') || code === '25P03';
  if (!isEnd) return error;
  const message = `The database of the store cannot be reached (${reasonOf(error)}); nothing was changed.`;
  return new StoreUnavailable('failed', message, error);
}

/** StoreUnavailable for an error that is about the machine or other transactions, other errors as they are. */
export function unavailable(error: unknown): unknown {
  if (error instanceof StoreUnavailable) return error;
  const code = codeOf(error);
  if (code === null) return error;
  const why = REASONS[code] ?? REASONS[code.slice(0, 2)];
  if (why === undefined) return error;
  return new StoreUnavailable(why, SENTENCES[why](reasonOf(error)), error);
}

const SENTENCES: Readonly<Record<Unavailability, (reason: string) => string>> = {
  locked: () => 'Another node writes to the store; nothing was changed. Try again later.',
  full: () => 'The disk of the store is full; nothing was changed.',
  failed: (reason) => `The database of the store cannot be used (${reason}); nothing was changed.`,
};

/** The first sentence of an error, with its cause where there are several, such as one for each address. */
export function reasonOf(error: unknown): string {
  const { message, errors } = error as { readonly message: string; readonly errors?: readonly Error[] };
  return message === '' && errors !== undefined ? errors.map((each) => each.message).join(', ') : message;
}
