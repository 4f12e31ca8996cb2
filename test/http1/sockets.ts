import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** Reads all bytes of a socket as Latin-1 and can wait for them. */
export interface Wire {
  readonly socket: Socket;
  /** Everything received so far. */
  readonly got: () => string;
  send(bytes: string | Uint8Array): void;
  /** Waits until the received text satisfies a condition; throws when the connection ends or time is up. */
  until(satisfied: (got: string) => boolean, withinMs?: number): Promise<string>;
  /** Waits for the end of the connection; whether it ended by FIN or by an error. */
  readonly ended: Promise<'end' | 'error'>;
  readonly closed: Promise<void>;
}

function wire(socket: Socket): Wire {
  let got = '';
  const watchers = new Set<() => void>();
  let over = false;
  const notify = (): void => {
    for (const watcher of watchers) watcher();
  };
  socket.on('data', (bytes: Buffer) => {
    got += bytes.toString('latin1');
    notify();
  });
  let failed = false;
  socket.on('error', () => {
    failed = true;
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      over = true;
      notify();
      resolve();
    });
  });
  const ended = new Promise<'end' | 'error'>((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.once('close', () => resolve(failed ? 'error' : 'end'));
  });
  return {
    socket,
    got: () => got,
    send: (bytes) => void socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes),
    until(satisfied, withinMs = 30_000) {
      return new Promise((resolve, reject) => {
        const finish = (error?: Error): void => {
          watchers.delete(look);
          clearTimeout(timer);
          if (error === undefined) resolve(got);
          else reject(error);
        };
        const look = (): void => {
          if (satisfied(got)) finish();
          else if (over)
            finish(new Error(`connection over before; got ${JSON.stringify(got.slice(0, 500))}`));
        };
        const timer = setTimeout(
          () => finish(new Error(`not within ${withinMs} ms; got ${JSON.stringify(got.slice(0, 500))}`)),
          withinMs,
        );
        watchers.add(look);
        look();
      });
    },
    ended,
    closed,
  };
}

export async function dial(port: number, options: { allowHalfOpen?: boolean } = {}): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  const made = wire(socket);
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  return made;
}

/** A server that records all bytes, and sends only what the test gives it. */
export interface Recorder {
  readonly port: number;
  /** Connections in the order they were accepted. */
  readonly wires: Wire[];
  /** All bytes of all connections, grouped by connection. */
  readonly all: () => string;
  /** The next connection, or one that has not been returned yet. */
  next(): Promise<Wire>;
  close(): Promise<void>;
}

/** `answer` is called with everything that a connection has received, whenever more arrives. */
export async function recorder(answer: (wire: Wire) => void = () => undefined): Promise<Recorder> {
  const wires: Wire[] = [];
  const untaken: Wire[] = [];
  const takers: ((wire: Wire) => void)[] = [];
  const server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    const made = wire(socket);
    wires.push(made);
    const taker = takers.shift();
    if (taker === undefined) untaken.push(made);
    else taker(made);
    socket.on('data', () => answer(made));
    // The end of a peer is answered at once.
    socket.on('end', () => socket.end());
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    wires,
    all: () => wires.map((one) => one.got()).join(''),
    next() {
      const there = untaken.shift();
      return there === undefined
        ? new Promise((resolve) => void takers.push(resolve))
        : Promise.resolve(there);
    },
    async close() {
      for (const one of wires) one.socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** One request as parsed by an upstream that trusts the framing fields. */
export interface ReadRequest {
  readonly line: string;
  readonly head: string;
  readonly body: string;
}

/** Splits the bytes of a connection into requests, by their framing; an incomplete one is `rest`. */
export function splitRequests(got: string): { requests: ReadRequest[]; rest: string } {
  const requests: ReadRequest[] = [];
  let rest = got;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { requests, rest };
    const head = rest.slice(0, end + 2);
    const content = rest.slice(end + 4);
    const read = /\r\ntransfer-encoding: *chunked\r\n/i.test(head)
      ? readChunks(content)
      : readLength(head, content);
    if (read === null) return { requests, rest };
    requests.push({ line: head.slice(0, head.indexOf('\r\n')), head, body: read.body });
    rest = read.rest;
  }
}

function readLength(head: string, content: string): { body: string; rest: string } | null {
  const length = Number(/\r\ncontent-length: *(\d+)\r\n/i.exec(head)?.[1] ?? 0);
  return content.length < length ? null : { body: content.slice(0, length), rest: content.slice(length) };
}

/** Removes chunked framing; null if the last chunk is missing. */
function readChunks(content: string): { body: string; rest: string } | null {
  let body = '';
  for (let at = 0; ;) {
    const line = content.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = Number.parseInt(content.slice(at, line), 16);
    if (size === 0) {
      return content.startsWith('\r\n', line + 2) ? { body, rest: content.slice(line + 4) } : null;
    }
    body += content.slice(line + 2, line + 2 + size);
    at = line + 4 + size;
  }
}

/** Answers each complete request with the same bytes. */
export function answering(response: string | ((request: ReadRequest) => string)): (wire: Wire) => void {
  const answered = new WeakMap<Wire, number>();
  return (one) => {
    const { requests } = splitRequests(one.got());
    const before = answered.get(one) ?? 0;
    answered.set(one, requests.length);
    for (const request of requests.slice(before)) {
      one.send(typeof response === 'string' ? response : response(request));
    }
  };
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/** Whether `got` has a whole head. */
export function hasHead(got: string): boolean {
  return got.includes('\r\n\r\n');
}

export function statusOf(got: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(got)?.[1] ?? 0);
}

/** Head fields in lower case; chunked bodies are decoded. */
export function parseResponse(got: string): {
  status: number;
  fields: Map<string, string>;
  body: Buffer;
  whole: boolean;
} {
  const end = got.indexOf('\r\n\r\n');
  const fields = new Map<string, string>();
  for (const line of got.slice(0, end).split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    fields.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  const content = got.slice(end + 4);
  const status = statusOf(got);
  if (fields.get('transfer-encoding') === 'chunked') {
    const read = readChunks(content);
    return { status, fields, body: Buffer.from(read?.body ?? '', 'latin1'), whole: read !== null };
  }
  const length = Number(fields.get('content-length') ?? content.length);
  return {
    status,
    fields,
    body: Buffer.from(content.slice(0, length), 'latin1'),
    whole: content.length >= length,
  };
}
