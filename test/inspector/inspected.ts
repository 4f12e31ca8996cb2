import { type IncomingMessage, type Server, createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { type EdgeOptions, type ListenOptions, type Listening, createEdge } from '../../src/edgeproof.ts';
import { type InspectorOptions, createInspector } from '../../src/inspector/server/inspector.ts';
import type { FeedEvent, Row } from '../../src/inspector/wire.ts';

const PAGE = new Map([['/index.html', Buffer.from('<!doctype html><title>inspector</title>')]]);

/** An edge that listens, with its inspector. */
export interface Inspected {
  readonly listening: Listening;
  readonly edge: ReturnType<typeof createEdge>;
  readonly inspector: ReturnType<typeof createInspector>;
  readonly port: number;
  readonly token: string;
  /** A request to the data; the body is parsed. */
  readonly api: (method: string, path: string, body?: unknown) => Promise<Answer>;
  /** The same, for answers that must be 200. */
  readonly ok: <Value>(method: string, path: string, body?: unknown) => Promise<Value>;
  /** A request to the edge. */
  readonly send: (path: string, init?: Sending) => Promise<Sent>;
  readonly feed: (query?: string) => Promise<FeedReader>;
}

interface Answer {
  readonly status: number;
  readonly value: unknown;
  readonly headers: IncomingMessage['headers'];
}

interface Sending {
  readonly method?: string;
  readonly headers?: readonly string[];
  readonly body?: string | Uint8Array;
}

interface Sent {
  readonly status: number;
  readonly text: string;
  readonly headers: IncomingMessage['headers'];
}

/** Starts both; they end with the test. */
export async function inspected(
  config: unknown,
  options: Partial<InspectorOptions> = {},
  edgeOptions: EdgeOptions = {},
  listen: ListenOptions = {},
): Promise<Inspected> {
  const inspector = createInspector({
    port: 0,
    verb: 'dev',
    version: '0',
    pages: async () => PAGE,
    ...options,
  });
  const edge = createEdge(config, { ...edgeOptions, trafficWatch: inspector.watch });
  const listening = await edge.listen(listen);
  const opened = await inspector.listen();
  if ('problem' in opened) throw new Error(opened.problem);
  const { host, port, tlsPort, url } = listening;
  inspector.serves(url, { host, port, tlsPort, tlsNeedsProxyHeader: false });
  onTestFinished(async () => {
    await inspector.close();
    await listening.close(0);
  });
  const token = new URL(opened.openUrl).hash.slice('#token='.length);
  const api = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const {
      status,
      text: answer,
      headers,
    } = await plain(opened.port, path, {
      method,
      headers: [
        'host',
        `127.0.0.1:${opened.port}`,
        'authorization',
        `Bearer ${token}`,
        ...(text === undefined
          ? []
          : ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]),
      ],
      ...(text !== undefined && { body: text }),
    });
    return { status, value: answer === '' ? null : (JSON.parse(answer) as unknown), headers };
  };
  return {
    listening,
    edge,
    inspector,
    port: opened.port,
    token,
    api,
    ok: async <Value>(method: string, path: string, body?: unknown) => {
      const { status, value } = await api(method, path, body);
      if (status !== 200) throw new Error(`${status}: ${JSON.stringify(value)}`);
      return value as Value;
    },
    send: (path, init) => plain(port, path, { ...init, headers: init?.headers ?? ['host', 'app.test'] }),
    feed: (query = '') => openFeed(opened.port, token, query),
  };
}

/** A request with exactly these headers. */
export function plain(
  port: number,
  path: string,
  { method = 'GET', headers = [], body }: Sending,
): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path,
        method,
        headers: headers as unknown as Record<string, string>,
        setHost: false,
        agent: false,
      },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.once('error', reject);
        response.once('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            text: Buffer.concat(pieces).toString(),
            headers: response.headers,
          }),
        );
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The events of a feed as they come. */
export class FeedReader {
  readonly events: FeedEvent[] = [];
  readonly ids: number[] = [];
  isOver = false;
  #text = '';
  #waiting: (() => void)[] = [];
  readonly #response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding('utf8');
    response.on('data', (piece: string) => this.#read(piece));
    response.on('error', () => undefined);
    response.once('close', () => {
      this.isOver = true;
      this.#wake();
    });
  }

  get rows(): Row[] {
    return this.events.flatMap((event) => (event.type === 'rows' ? event.rows : []));
  }

  /** Stops reading, and lets the server's buffer fill. */
  pause(): void {
    this.#response.pause();
  }

  resume(): void {
    this.#response.resume();
  }

  close(): void {
    this.#response.destroy();
  }

  async until(holds: (reader: FeedReader) => boolean): Promise<this> {
    while (!holds(this)) {
      if (this.isOver) throw new Error('the feed ended before');
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    return this;
  }

  async ended(): Promise<this> {
    return this.isOver ? this : this.until(({ isOver }) => isOver);
  }

  #read(piece: string): void {
    this.#text += piece;
    const blocks = this.#text.split('\n\n');
    this.#text = blocks.pop()!;
    for (const block of blocks) {
      const id = /^id: (\d+)$/m.exec(block)?.[1];
      if (id !== undefined) this.ids.push(Number(id));
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) this.events.push(JSON.parse(data) as FeedEvent);
    }
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const each of waiting) each();
  }
}

function openFeed(port: number, token: string, query: string): Promise<FeedReader> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        host: '127.0.0.1',
        port,
        path: `/api/feed${query}`,
        headers: { authorization: `Bearer ${token}` },
        agent: false,
      },
      (response) => {
        if (response.statusCode === 200) resolve(new FeedReader(response));
        else reject(new Error(`the feed has status ${response.statusCode}`));
      },
    );
    sent.once('error', () => undefined);
    sent.end();
  });
}

/** An application; ends with the test. */
export async function application(
  answer: (
    request: IncomingMessage,
    body: string,
  ) => { status?: number; headers?: Record<string, string>; body?: string },
): Promise<{ readonly address: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.once('end', () => {
      const { status = 200, headers = {}, body = '' } = answer(request, Buffer.concat(pieces).toString());
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

/** An edge with one host and one backend, and further modules of its route. */
export function edgeTo(address: string, route: object = {}, top: object = {}): object {
  return {
    service_name: 'service',
    backends: { app: { static: { address } } },
    edges: {
      https: {
        main: {
          hostports: ['app.test:443'],
          routes: [{ match_type: 'path_prefix', match: '/', backend: { backend_id: 'app' }, ...route }],
        },
      },
    },
    ...top,
  };
}
