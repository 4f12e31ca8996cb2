import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { FeedEvent, Hello, Kept, Row } from '../../src/inspector/wire.ts';
import type { Detail } from '../../src/inspector/wire_detail.ts';
import type { DraftAnswer, FileText } from '../../src/inspector/wire_editing.ts';
import type { Overview } from '../../src/inspector/wire_overview.ts';
import { detailOf } from './exchanges.ts';
import { OVERVIEW } from './overview_of_tests.ts';

/**
 * A server that sends what a test says, in the form of the wire: for traffic that no client can produce on purpose, such as
 * 5,000 rows a second and 10 MB of header. What the real server sends is tested with it.
 */
export interface WireServer {
  readonly url: string;
  /** Bodies of requests to `METHOD PATH`, in order. */
  readonly asked: Map<string, unknown[]>;
  readonly rows: Map<number, Row>;
  readonly details: Map<number, Detail>;
  readonly files: FileText[];
  /** What the next drafts get. */
  draft: DraftAnswer;
  /** What the overview gets. */
  overview: Overview;
  readonly send: (event: FeedEvent) => void;
  readonly add: (rows: readonly Row[]) => void;
  readonly stop: () => Promise<void>;
}

const TOKEN = 'token-of-tests';
const PAGES = join(import.meta.dirname, '../../dist/inspector');
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
};

const EDGE_TEXT = `ip_policies:
  office:
    rules:
      - { cidr: 203.0.113.0/24, action: allow }
      - { cidr: 203.0.113.128/25, action: deny }
backends:
  app: { static: { address: 'localhost:3000' } }
edges:
  https:
    shop:
      hostports: ['shop.test:443']
`;

const fileOf = (name: string, text: string): FileText => ({
  name,
  kind: 'edge',
  text,
  hash: createHash('sha256').update(text).digest('hex'),
  writable: true,
});

const NO_DRAFT: DraftAnswer = {
  diagnostics: [],
  decided: true,
  one: null,
  changed: [],
  counts: { looked: 3, alike: 3, changed: 0, unknown: 0 },
  unknownFor: [],
  tookMs: 2.5,
};

export async function startWireServer(): Promise<WireServer> {
  const feeds = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const state: WireServer = {
    url: `http://127.0.0.1:${port}/#token=${TOKEN}`,
    asked: new Map(),
    rows: new Map(),
    details: new Map(),
    files: [fileOf('edge.yaml', EDGE_TEXT)],
    draft: NO_DRAFT,
    overview: OVERVIEW,
    send: (event) => {
      for (const feed of feeds) feed.write(`id: 1\ndata: ${JSON.stringify(event)}\n\n`);
    },
    add: (rows) => {
      for (const row of rows) {
        state.rows.set(row.seq, row);
        if (row.kind === 'exchange' && !state.details.has(row.seq)) state.details.set(row.seq, detailOf(row));
      }
      state.send({ type: 'rows', rows });
    },
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const kept = (): Kept => ({ ...OVERVIEW.kept, rows: state.rows.size });
  const hello = (): Hello => ({
    version: '0.1.0',
    verb: 'dev',
    edgeUrl: 'http://localhost:8080',
    revision: 1,
    startedMs: 1,
    nowMs: Date.now(),
    kept: kept(),
    can: {
      resend: true,
      files: true,
      write: true,
      draft: true,
      complete: true,
      format: true,
      coverage: true,
    },
  });

  function follow(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    feeds.add(response);
    response.on('close', () => feeds.delete(response));
    response.write(`data: ${JSON.stringify({ type: 'rows', rows: [...state.rows.values()] })}\n\n`);
  }

  function exchangeAnswer(path: string, body: Record<string, unknown>): unknown {
    const [, number = '', act = ''] = /^exchanges\/(\d+)(?:\/(\w+))?/.exec(path) ?? [];
    const seq = Number(number);
    const row = state.rows.get(seq);
    if (act === '') return state.details.get(seq);
    if (act === 'pin') {
      state.rows.set(seq, { ...row!, pinned: body['pinned'] as boolean });
      return state.rows.get(seq);
    }
    if (act === 'resend') {
      const next = { ...row!, seq: state.rows.size + 1, resentFrom: seq } as Row;
      state.details.set(next.seq, { ...state.details.get(seq)!, row: next } as Detail);
      state.add([next]);
      return { seq: next.seq, status: 200, notes: [] };
    }
    const as = path.replace(/^.*=/, '');
    return { as, text: `${as} of ${seq} <b>\n`, name: `GET_items.${as}`, notes: ['The cookie is redacted.'] };
  }

  function write(body: Record<string, unknown>): unknown {
    const at = state.files.findIndex(({ name }) => name === body['name']);
    if (state.files[at]!.hash !== body['expected']) return null;
    state.files[at] = fileOf(state.files[at]!.name, body['text'] as string);
    return state.files[at];
  }

  function answerTo(call: string, body: Record<string, unknown>): unknown {
    if (call.includes(' exchanges/')) return exchangeAnswer(call.replace(/^\w+ /, ''), body);
    switch (call) {
      case 'GET hello':
        return hello();
      case 'GET overview':
        return state.overview;
      case 'GET files':
        return { files: state.files };
      case 'PUT files':
        return write(body);
      case 'POST draft':
        return state.draft;
      case 'POST clear':
        for (const [seq, row] of state.rows) if (!row.pinned) state.rows.delete(seq);
        return kept();
      case 'POST search':
        return {
          rows: [...state.rows.values()].toReversed(),
          more: false,
          searched: state.rows.size,
          diagnostics: [],
        };
      case 'POST filter':
        return filterAnswer(String(body['expression']));
      case 'POST complete':
        return {
          start: 0,
          end: body['offset'],
          candidates: [{ text: 'ev.http.response.status_code', kind: 'int', doc: 'Status.' }],
        };
      case 'POST format':
        return { text: `# formatted\n${String(body['text'])}`, diagnostics: [] };
      case 'POST coverage':
        return COVERAGE;
      case 'GET revisions/2':
        return {
          ...OVERVIEW.revisions[1],
          files: [{ name: 'edge.yaml', lines: [{ change: 'added', at: 1, text: 'a: 1' }] }],
        };
      default:
        return null;
    }
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.slice(1);
    if (!path.startsWith('api/')) return sendFile(response, path === '' ? 'index.html' : path);
    if (request.headers.authorization !== `Bearer ${TOKEN}`)
      return sendJson(response, 401, { error: 'unauthorized', message: 'The token is wrong.' });
    if (path.startsWith('api/feed')) return follow(response);
    const call = `${request.method} ${path.slice('api/'.length)}`;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString() || '{}') as Record<string, unknown>;
    state.asked.set(call, [...(state.asked.get(call) ?? []), body]);
    const answer = answerTo(call, body);
    if (answer === undefined)
      return sendJson(response, 404, { error: 'not_kept', message: 'It is not kept.' });
    if (answer === null) return sendJson(response, 409, { error: 'conflict', message: 'The file changed.' });
    return sendJson(response, 200, answer);
  }

  return state;
}

/** Finds the place of a wrong name; another expression compiles. */
function filterAnswer(expression: string): unknown {
  const at = expression.indexOf('nmae');
  if (at === -1) return { id: `f${expression.length}`, diagnostics: [] };
  const range = { start: { line: 1, column: at + 1 }, end: { line: 1, column: at + 5 } };
  const finding = {
    file: null,
    range,
    severity: 'error',
    code: 'cel.unknown',
    message: 'there is no `nmae`',
  };
  return {
    id: null,
    diagnostics: [
      { ...finding, pointer: '', hint: 'did you mean `name`?', notes: [], basis: null, fix: null },
    ],
  };
}

const COVERAGE = {
  name: 'kept traffic',
  percent: 66.7,
  points: [
    {
      kind: 'rule',
      place: { file: 'edge.yaml', line: 4, column: 9 },
      pointer: '/a',
      state: 'hit',
      hits: 4,
      message: 'the rule decided',
    },
    {
      kind: 'rule',
      place: { file: 'edge.yaml', line: 5, column: 9 },
      pointer: '/b',
      state: 'missed',
      hits: 0,
      message: 'the rule never decided',
    },
  ],
  diagnostics: [],
};

function sendFile(response: ServerResponse, name: string): void {
  const type = TYPES[extname(name)] ?? 'application/octet-stream';
  response
    .writeHead(200, {
      'content-type': type,
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
    })
    .end(readFileSync(join(PAGES, name)));
}

function sendJson(response: ServerResponse, status: number, content: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
}
