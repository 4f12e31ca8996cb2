import type { Reason, Connection, RequestHead } from '../contract.ts';
import { Exchange as EngineExchange } from '../exchange.ts';
import { type EngineReason, REFUSALS, engineRefusal } from '../refusals.ts';
import { partialHead, readRequestHead } from '../request_head.ts';
import { NOTHING_SENT, answer, fail, start } from '../run.ts';
import type { Branding } from '../branding.ts';
import { type Address, parseAddress, parseSocketAddress } from '../../net/address.ts';
import type { ConnectionFacts, ExchangePort, Refused } from './exchange_port.ts';

/** From the composition root: how exchanges begin with the current configuration, and what happens at their end. */
export interface Wiring {
  readonly nowMs: () => number;
  readonly branding: () => Branding;
  readonly begin: (connection: Connection, head: RequestHead) => EngineExchange;
  /** An exchange for a request that is refused before routing. */
  readonly refuse: (
    connection: Connection,
    head: RequestHead,
    reason: Reason<EngineReason>,
  ) => EngineExchange;
  /** Called once for each exchange, when it is complete. */
  readonly finished: (exchange: EngineExchange) => void;
}

/** The engine as the live driver sees it. */
export function engineExchangePort(wiring: Wiring): ExchangePort {
  const ended = <Question>(exchange: EngineExchange, question: Question | null): Question | null => {
    if (question === null) wiring.finished(exchange);
    return question;
  };
  return {
    nowMs: wiring.nowMs,
    begin: (raw) => {
      const connection = connectionOf(raw.connection);
      const head = readRequestHead(raw.head);
      if (!isClientKnown(raw.connection))
        return wiring.refuse(connection, partialHead(raw.head), UNKNOWN_CLIENT);
      if (!('refused' in head)) return wiring.begin(connection, head);
      return wiring.refuse(connection, head.head, { code: head.refused, detail: { problem: head.message } });
    },
    next: (exchange) => ended(mine(exchange), start(mine(exchange))),
    answer: (exchange, given) => ended(mine(exchange), answer(mine(exchange), given)),
    fail: (exchange, error) => {
      const failing = mine(exchange);
      // A driver that fails twice has been reported already.
      return failing.stage === 'done' ? null : ended(failing, fail(failing, error));
    },
    refuse: (refused) => refusedReply(refused, wiring),
  };
}

const UNKNOWN_CLIENT: Reason<EngineReason> = { code: 'request.client_unknown', detail: {} };

function refusedReply(refused: Refused, wiring: Wiring): ReturnType<ExchangePort['refuse']> {
  const code = REFUSALS[refused.code];
  const reason = { code, detail: { problem: refused.detail } };
  const head = partialHead(refused.head);
  const exchange = wiring.refuse(connectionOf(refused.connection), head, reason);
  const question = start(exchange);
  if (question?.ask !== 'reply')
    throw new Error('a refused request asked for something other than its reply');
  const bytes = Buffer.byteLength(engineRefusal(wiring.branding(), code).body);
  answer(exchange, { ...NOTHING_SENT, responseBytes: bytes, rawResponseBytes: bytes, cut: 'none' });
  wiring.finished(exchange);
  return question.reply;
}

function mine(exchange: object): EngineExchange {
  if (!(exchange instanceof EngineExchange)) throw new TypeError('not an exchange of this engine');
  return exchange;
}

const READ = Symbol('as the engine reads them');

/**
 * Facts with what the engine has read of them. Values of a WeakMap would stay until V8 marks the whole heap
 * (docs/decisions/0062_dense_lists.md).
 */
interface ReadFacts extends ConnectionFacts {
  /** A copy of the facts with other values has this field, too, so it says whose it is. */
  [READ]?: { readonly facts: ConnectionFacts; readonly connection: Connection };
}

/** Converts connection facts for the engine; addresses are parsed once. */
export function connectionOf(facts: ConnectionFacts): Connection {
  const own: ReadFacts = facts;
  const read = own[READ];
  if (read?.facts === facts) return read.connection;
  const connection = readConnection(facts);
  own[READ] = { facts, connection };
  return connection;
}

/**
 * Whether the client's address can be read. Without it (a Unix socket, a peer that has gone) no rule about addresses
 * can be trusted, so the request is refused and the connection closed.
 */
export function isClientKnown({ clientAddress }: ConnectionFacts): boolean {
  return parseSocketAddress(clientAddress) !== null;
}

/** For the event of a request that was refused because its client has no address. */
const NO_ADDRESS: Address = parseAddress('::')!;

function readConnection(facts: ConnectionFacts): Connection {
  const server = parseSocketAddress(facts.serverAddress);
  return {
    client: parseSocketAddress(facts.clientAddress) ?? NO_ADDRESS,
    clientPort: facts.clientPort,
    serverIp: server?.text ?? facts.serverAddress,
    serverPort: facts.serverPort,
    serverName: facts.serverName,
    startMs: facts.startMs,
    tls: facts.tls,
  };
}
