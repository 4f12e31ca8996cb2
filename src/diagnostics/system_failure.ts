/** Why the system refused something, and what helps. */
export interface SystemFailure {
  readonly cause: string;
  readonly cure: string;
}

const OTHER_NAME = 'choose another name, or another folder';

/** Errors of the system (POSIX, `errno.h`) that users can do something about. */
const FAILURES: Readonly<Record<string, readonly [cause: string, cure: string]>> = {
  ENOENT: ['there is no such file or folder', 'correct the name, or create it'],
  EISDIR: ['this is a folder', 'name a file'],
  ENOTDIR: ['a part of the path is a file, not a folder', 'correct the path'],
  EACCES: ['permission denied', 'change the permissions, or run as a user who has them'],
  EPERM: ['the system does not permit it', 'run as a user who may do this'],
  EROFS: ['the file system is read-only', 'write to another folder'],
  ENOSPC: ['the disk is full', 'free some space, or write to another disk'],
  EDQUOT: ['the disk quota is used up', 'free some space, or write to another disk'],
  EFBIG: ['the file would be too large', 'write to another file system, or raise the limit of file sizes'],
  ERR_FS_FILE_TOO_LARGE: ['it is larger than 2 GiB', 'name a smaller file'],
  EIO: ['the device reports an error', 'check the disk, or use another one'],
  EEXIST: ['it exists already', OTHER_NAME],
  EBUSY: ['another program uses it', 'stop that program, or choose another name'],
  ETXTBSY: ['it is a running program', OTHER_NAME],
  ENAMETOOLONG: ['the name is too long', 'choose a shorter one'],
  ERR_ACCESS_DENIED: [
    "Node's permission model does not allow it in this process",
    'name a file in an allowed folder, or allow more',
  ],
  ELOOP: ['symbolic links lead in a circle', 'correct the links'],
  ENXIO: ['it is a device or a socket', 'name a regular file'],
  ESPIPE: ['it is a pipe', 'name a regular file'],
  EINVAL: ['the system does not accept this path or address', 'correct it'],
  EMFILE: ['too many files are open', 'raise the limit with `ulimit -n`'],
  ENFILE: ['too many files are open on this machine', 'stop some programs'],
  ENOMEM: ['there is not enough memory', 'stop some programs, or use a smaller input'],
  EPIPE: ['the reader of the output has gone', 'keep the reader running until the end'],
  EADDRINUSE: [
    'another program listens there',
    'stop that program, or choose another port (0 takes any free one)',
  ],
  EADDRNOTAVAIL: ['this machine has no such address', 'use an address of this machine, such as 127.0.0.1'],
  ENOTFOUND: ['there is no such host', 'correct the name, or use an address'],
  EAI_AGAIN: ['the name cannot be resolved now', 'check the network, or use an address'],
  ECONNREFUSED: ['nothing listens there', 'start the program that should listen, or correct the address'],
  ECONNRESET: ['the other side closed the connection', 'check the program at the other side'],
  ETIMEDOUT: ['there is no answer', 'check the address and the network'],
  EHOSTUNREACH: ['the host cannot be reached', 'check the address and the network'],
  ENETUNREACH: ['the network cannot be reached', 'check the address and the network'],
};

/** Ports below this one belong to the system (RFC 6335, section 6). */
const PORT_HINT = 'use a port from 1024, or run as a user who may open lower ones';

/** Cause and cure of an error of the system; null for any other error. */
export function systemFailure(error: unknown): SystemFailure | null {
  if (!(error instanceof Error)) return null;
  const { code = '', syscall } = error as NodeJS.ErrnoException;
  const known = Object.hasOwn(FAILURES, code) ? FAILURES[code]! : null;
  if (known === null) {
    return syscall === undefined || typeof (error as NodeJS.ErrnoException).errno !== 'number'
      ? null
      : { cause: `the system reports ${code}`, cure: 'look this code up in the manual of the system' };
  }
  const [cause, cure] = known;
  return { cause, cure: code === 'EACCES' && syscall === 'listen' ? PORT_HINT : cure };
}

/** A detail of a connection that failed, such as `connect ECONNREFUSED 127.0.0.1:1`, in words. */
export function detailText(detail: string): string {
  const code = /\bE[A-Z_]{3,}\b/.exec(detail)?.[0] ?? '';
  return Object.hasOwn(FAILURES, code) ? FAILURES[code]![0] : detail;
}

/** Cause and cure in one line, or the message of an error that is not of the system. */
export function failureText(error: unknown): string {
  const failure = systemFailure(error);
  if (failure !== null) return `${failure.cause}; ${failure.cure}`;
  return error instanceof Error ? error.message : String(error);
}

/** Why something could not be done with a file, which it names: errors of the system do not always do so. */
export function fileFailure(task: string, path: string, error: unknown): string {
  return `cannot ${task} ${path}: ${failureText(error)}`;
}
