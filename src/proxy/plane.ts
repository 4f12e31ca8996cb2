import type { Because, Connection, RequestHead } from '../engine/contract.ts';
import { Exchange as EngineExchange } from '../engine/exchange.ts';
import { type EngineReason, engineRefusal } from '../engine/refusals.ts';
import { partialHead, readRequestHead } from '../engine/request_head.ts';
import { NOTHING_SENT, answer, fail, start } from '../engine/run.ts';
import type { ServiceNaming } from '../engine/naming.ts';
import { parseAddress } from '../net/address.ts';
import type { ConnectionFacts, Plane, RefusalCode, Refused } from './port.ts';

/** What the composition root gives: how exchanges begin on the current configuration, and where they end. */
export interface Wiring {
  readonly naming: () => ServiceNaming;
  readonly begin: (connection: Connection, head: RequestHead) => EngineExchange;
  /** An exchange for a request that is refused before routing. */
  readonly refuse: (
    connection: Connection,
    head: RequestHead,
    because: Because<EngineReason>,
  ) => EngineExchange;
  /** Called once for each exchange, when it is complete. */
  readonly finished: (exchange: EngineExchange) => void;
}

const REFUSALS: Readonly<Record<RefusalCode, EngineReason>> = {
  malformed: 'request.malformed',
  framing: 'request.malformed',
  expectation: 'request.expectation',
  head_too_large: 'request.head_too_large',
  head_timeout: 'request.timeout',
  target_too_long: 'request.target_too_long',
  version: 'request.version',
  method: 'request.method',
  transfer_coding: 'request.not_implemented',
};

/** The engine as the live driver sees it. */
export function enginePlane(wiring: Wiring): Plane {
  const ended = <Question>(exchange: EngineExchange, question: Question | null): Question | null => {
    if (question === null) wiring.finished(exchange);
    return question;
  };
  return {
    begin: (raw) => {
      const connection = connectionOf(raw.connection);
      const head = readRequestHead(raw.head);
      if (!('refused' in head)) return wiring.begin(connection, head);
      return wiring.refuse(connection, head.head, { code: head.refused, detail: { problem: head.says } });
    },
    next: (exchange) => ended(mine(exchange), start(mine(exchange))),
    answer: (exchange, given) => ended(mine(exchange), answer(mine(exchange), given)),
    fail: (exchange, error) => {
      const failing = mine(exchange);
      // A driver that fails twice has said so once.
      return failing.stage === 'done' ? null : ended(failing, fail(failing, error));
    },
    refuse: (refused) => refusedReply(refused, wiring),
  };
}

function refusedReply(refused: Refused, wiring: Wiring): ReturnType<Plane['refuse']> {
  const code = REFUSALS[refused.code];
  const because = { code, detail: { problem: refused.detail } };
  const head = partialHead(refused.head);
  const exchange = wiring.refuse(connectionOf(refused.connection), head, because);
  const question = start(exchange);
  if (question?.ask !== 'reply') throw new Error('a refused request asked for something else than its reply');
  const bytes = Buffer.byteLength(engineRefusal(wiring.naming(), code).body);
  answer(exchange, { ...NOTHING_SENT, responseBytes: bytes, rawResponseBytes: bytes, cut: 'none' });
  wiring.finished(exchange);
  return question.reply;
}

function mine(exchange: object): EngineExchange {
  if (!(exchange instanceof EngineExchange)) throw new TypeError('not an exchange of this engine');
  return exchange;
}

/** What the engine was told of connections that are there: their addresses are read once. */
const told = new WeakMap<ConnectionFacts, Connection>();

/** What the engine is told of a connection. */
export function connectionOf(facts: ConnectionFacts): Connection {
  const before = told.get(facts);
  if (before !== undefined) return before;
  const connection = readConnection(facts);
  told.set(facts, connection);
  return connection;
}

function readConnection(facts: ConnectionFacts): Connection {
  // A Unix socket or a vanished peer has no address: the unspecified one matches no rule but `::/0`.
  const client = parseAddress(facts.clientAddress) ?? parseAddress('::')!;
  const server = parseAddress(facts.serverAddress);
  return {
    client,
    clientPort: facts.clientPort,
    serverIp: server?.text ?? facts.serverAddress,
    serverPort: facts.serverPort,
    serverName: facts.serverName,
    startMs: facts.startMs,
    tls: facts.tls,
  };
}
