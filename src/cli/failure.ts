import { systemFailure } from '../diagnostics/system_failure.ts';
import { EXIT } from './exit_codes.ts';
import { stderr } from './output.ts';

/** Something that cannot be written or opened; the message is for the user. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

/** Errors with messages for the user, by name: their classes are in rooms that most verbs do not load. */
const KNOWN: Readonly<Record<string, number>> = {
  FileError: EXIT.usage,
  StoreError: EXIT.usage,
  ConfigError: EXIT.configInvalid,
  OutputError: EXIT.runtime,
  ApiError: EXIT.runtime,
  ListenError: EXIT.runtime,
  StoreUnavailable: EXIT.runtime,
  SharedStateError: EXIT.runtime,
};

/**
 * Prints why a verb ended, and returns its exit code. Failures of the world have a sentence, a cause and a cure;
 * only what is left is a bug of ours.
 */
export function reportFailure(error: unknown): number {
  const { text, code } = failureOf(error);
  stderr.write(`${text}\n`);
  return code;
}

function failureOf(error: unknown): { readonly text: string; readonly code: number } {
  if (!(error instanceof Error)) return { text: `a bug in edgeproof: ${String(error)}`, code: EXIT.internal };
  const { name, message, stack } = error;
  const code = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
  if (code !== undefined) return { text: message, code };
  const failure = systemFailure(error);
  if (failure === null) {
    return {
      text: `a bug in edgeproof: ${stack ?? message}\nplease report it, with the command line and the files`,
      code: EXIT.internal,
    };
  }
  return { text: `cannot ${taskOf(error)}: ${failure.cause}; ${failure.cure}`, code: EXIT.runtime };
}

const TASKS: Readonly<Record<string, string>> = {
  open: 'open',
  read: 'read',
  stat: 'read',
  write: 'write',
  scandir: 'list the folder',
  mkdir: 'create the folder',
  unlink: 'remove',
  rename: 'rename',
  listen: 'listen on',
  bind: 'listen on',
  connect: 'connect to',
  getaddrinfo: 'look up',
  spawn: 'start',
};

/** What the system was asked for: `open edge.yaml`, `listen on 127.0.0.1:80`. */
function taskOf(
  error: NodeJS.ErrnoException & {
    address?: string;
    port?: number;
    hostname?: string;
    /** What Node's permission model refused. */
    resource?: string;
  },
): string {
  const { syscall = 'use', path, address, port, hostname, resource } = error;
  const [call = '', program = ''] = syscall.split(' ');
  const place = address === undefined ? hostname : `${address}${port === undefined ? '' : `:${port}`}`;
  const subject = path ?? resource ?? place ?? (program === '' ? 'a file' : program);
  return `${TASKS[call] ?? call} ${subject}`;
}
