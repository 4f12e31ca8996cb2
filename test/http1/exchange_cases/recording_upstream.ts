import { once } from 'node:events';
import { type AddressInfo, type Socket, createServer } from 'node:net';
import { OK, type UpstreamMove } from './case.ts';
import { type Send, settledSocket } from './sending.ts';
import { type StrictMessage, Violation, readRequest } from './strict_http.ts';

/** What an upstream has received, as the second parser reads it. */
export interface Recorded {
  readonly requests: readonly StrictMessage[];
  /** Bytes after the last whole request, of all connections. */
  readonly rest: string;
  readonly violations: readonly string[];
}

export interface RecordingUpstream {
  readonly port: number;
  readonly got: () => string;
  recorded(): Recorded;
  /** Reports what the client has received, for moves that wait for it. */
  clientGot(text: string): void;
  close(): Promise<void>;
}

/** One connection and its position in the script. */
interface Line {
  readonly socket: Socket;
  text: string;
  /** Where the current request begins. */
  at: number;
  move: number;
  readonly requests: StrictMessage[];
  violation: string | null;
  busy: boolean;
}

const DEFAULT_MOVES: readonly UpstreamMove[] = [{ send: OK }];
/** The request that tests the connection is answered whatever the case's script is. */
export const PROOF_TARGET = '/proof-that-it-is-open';

/** Records all bytes, and answers as scripted. */
export async function recordingUpstream(
  given: string | readonly UpstreamMove[] | undefined,
  send: Send,
  { port = 0, anyForm = false }: { readonly port?: number; readonly anyForm?: boolean } = {},
): Promise<RecordingUpstream> {
  const moves = typeof given === 'string' ? [{ send: given }] : (given ?? DEFAULT_MOVES);
  const lines: Line[] = [];
  let clientText = '';
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    const line: Line = { socket, text: '', at: 0, move: 0, requests: [], violation: null, busy: false };
    lines.push(line);
    settledSocket(socket);
    socket.on('end', () => socket.end());
    socket.on('data', (bytes: Buffer) => {
      line.text += bytes.toString('latin1');
      void advance(line);
    });
    void advance(line);
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  async function advance(line: Line): Promise<void> {
    if (line.busy) return;
    line.busy = true;
    while (await step(line));
    line.busy = false;
  }

  /** Makes the next move if its condition is met. */
  async function step(line: Line): Promise<boolean> {
    const isProof = line.text.startsWith(`GET ${PROOF_TARGET} `, line.at);
    const all = isProof ? DEFAULT_MOVES : moves;
    const move = all[line.move];
    if (move === undefined) return nextRequest(line);
    if (!isDue(line, move)) return false;
    line.move++;
    if (move.send !== undefined) await send(line.socket, move.send);
    if (move.end === 'close') line.socket.end();
    if (move.end === 'reset') line.socket.resetAndDestroy();
    return true;
  }

  function isDue(line: Line, move: UpstreamMove): boolean {
    if (move.clientGot !== undefined && !clientText.includes(move.clientGot)) return false;
    const on = move.on ?? 'whole';
    const head = line.text.indexOf('\r\n\r\n', line.at);
    if (move.got !== undefined && (head < 0 || !line.text.includes(move.got, head))) return false;
    if (on === 'none') return true;
    return on === 'head' ? head >= 0 : read(line, line.at) !== null;
  }

  /** After the last move the next request is read, once this one is complete. */
  function nextRequest(line: Line): boolean {
    const end = read(line, line.at);
    if (end === null) return false;
    line.at = end;
    line.move = 0;
    return line.at < line.text.length;
  }

  function read(line: Line, at: number): number | null {
    try {
      return readRequest(line.text, at, anyForm)?.end ?? null;
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      return null;
    }
  }

  return {
    port: (server.address() as AddressInfo).port,
    got: () => lines.map(({ text }) => text).join(''),
    recorded: () =>
      record(
        lines.map(({ text }) => text),
        anyForm,
      ),
    clientGot(text) {
      clientText = text;
      for (const line of lines) void advance(line);
    },
    async close() {
      for (const { socket } of lines) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function record(texts: readonly string[], anyForm: boolean): Recorded {
  const requests: StrictMessage[] = [];
  const violations: string[] = [];
  let rest = '';
  for (const text of texts) {
    let at = 0;
    try {
      for (let next = readRequest(text, at, anyForm); next !== null; next = readRequest(text, at, anyForm)) {
        requests.push(next.message);
        at = next.end;
        if (at === text.length) break;
      }
    } catch (error) {
      violations.push(error instanceof Error ? error.message : String(error));
    }
    rest += text.slice(at);
  }
  return { requests, rest, violations };
}
