import type { Duplex } from 'node:stream';
import { reportFault } from '../io/containment.ts';
import { type AgentCommand, type AgentFacts, agentFacts } from './agent_facts.ts';
import { Heartbeats, EchoedBeats } from './heartbeats.ts';
import { MuxConnection, type MuxSession } from './mux/connection.ts';
import type { MuxStream, StreamTaker } from './mux/stream.ts';
import { StreamDuplex } from './mux/stream_duplex.ts';
import { ProxiedConnections, type ProxyHead } from './proxied_connections.ts';
import { Members, type Refusal, isRefusal } from './binding/members.ts';
import { JsonCollector, refusalText } from './rpc.ts';
import { KindReader, STREAM, TYPE_BYTES } from './stream_kinds.ts';

const COMMANDS: Readonly<Record<AgentCommand, { readonly type: number; readonly body: string }>> = {
  restart: { type: STREAM.restart, body: '{}' },
  stop: { type: STREAM.stop, body: '{}' },
  // An empty version asks for the latest one; both members are required.
  update: { type: STREAM.update, body: '{"Version":"","PermitMajorVersion":false}' },
};

const PROTOCOL_VERSION = '3';
/** Streams that an agent may have open: its heartbeats, and calls, of which it makes one at a time. */
const AGENT_STREAMS = 32;
/** Streams of an agent before its session has started; it needs one for heartbeats and one for Auth. */
const EARLY_STREAMS = 4;
/** Maximum time from the handshake to a complete Auth, in ms. */
const AUTH_MS = 15_000;
/** Longest Auth request, in bytes: little is held for agents that are not known yet. */
const AUTH_BYTES = 65_536;
/** Bytes of all calls of a session that are not complete: agents make one at a time, some make several. */
const CALLS_BYTES = 2 * 2 ** 20;
const TOO_MUCH = { problem: `all calls in progress may have at most ${CALLS_BYTES} bytes` } as const;
/** How long an agent may take to answer a command, in ms. */
const COMMAND_MS = 10_000;

/** The bind has to be repeated with other options instead. */
const NO_PATCH: Refusal = {
  number: 300,
  message: 'Tunnels cannot be changed here; close and bind them again.',
};

/** A started session, in the words of an Auth response. */
export interface SessionStart {
  readonly clientId: string;
  readonly cookie: string;
}

/** What a session needs from the registry of agents. Refusals are values; nothing rejects. */
export interface SessionHost {
  readonly region: string;
  start(session: AgentSession, auth: Members, facts: AgentFacts): Promise<SessionStart | Refusal>;
  bind(session: AgentSession, request: Members): Promise<object | Refusal>;
  startLabelled(session: AgentSession, request: Members): Promise<object | Refusal>;
  unbind(session: AgentSession, id: string): Promise<void>;
  ended(session: AgentSession, reason: string): void;
}

/** Where an agent has connected to: the address, and the name that it asked for; both may be empty. */
export interface ServerSide {
  readonly ip: string;
  readonly host: string;
}

/** One connection of an agent: its calls, its heartbeats, and the connections that it carries. */
export class AgentSession implements MuxSession {
  /** The address that the agent connects from. */
  readonly address: string;
  readonly server: ServerSide;
  readonly connections: ProxiedConnections;
  /** Called once, when the agent has authenticated. */
  onStarted: () => void = () => undefined;
  readonly #host: SessionHost;
  readonly #connection: MuxConnection;
  #state: 'new' | 'starting' | 'open' | 'closed' = 'new';
  #facts: AgentFacts | null = null;
  #timer: NodeJS.Timeout;
  #heartbeats: Heartbeats | null = null;
  #earlyStreams = 0;
  /** Bytes of calls that are not complete. */
  #callBytes = 0;

  constructor(socket: Duplex, address: string, host: SessionHost, server: ServerSide) {
    this.address = address;
    this.server = server;
    this.#host = host;
    this.#timer = setTimeout(() => this.close('the agent did not authenticate in time'), AUTH_MS);
    this.#connection = new MuxConnection(socket, this, { firstId: 2, peerStreams: AGENT_STREAMS });
    this.connections = new ProxiedConnections(this.#connection.mux);
  }

  get isOpen(): boolean {
    return this.#state === 'open';
  }

  /** Sends a command. Returns why it failed; null if the agent accepted it. */
  async command(command: AgentCommand): Promise<CommandFailure | null> {
    const reason = this.#facts?.unsupported[command];
    if (reason !== undefined) return { kind: 'unsupported', message: reason };
    const { type, body } = COMMANDS[command];
    const answer = await this.#call(type, body);
    if (answer === null) return { kind: 'unreachable', message: 'the agent did not answer' };
    const error = answer.text('Error');
    return error === '' ? null : { kind: 'failed', message: error };
  }

  close(reason: string): void {
    this.#connection.close(reason);
  }

  closed(reason: string): void {
    clearTimeout(this.#timer);
    this.#heartbeats?.stop();
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    this.connections.close(reason);
    if (wasOpen) this.#host.ended(this, reason);
  }

  received(): void {
    this.connections.next();
  }

  opened(stream: MuxStream): StreamTaker | null {
    if (this.#state !== 'open' && ++this.#earlyStreams > EARLY_STREAMS) return null;
    return new KindReader(stream, this.#takerFor);
  }

  readonly #takerFor = (stream: MuxStream, kind: number): StreamTaker | null => {
    if (kind === STREAM.heartbeat) return new EchoedBeats(stream, this.#alive);
    if (kind === STREAM.auth && this.#state === 'new') {
      this.#state = 'starting';
      return this.#answer(stream, (request) => this.#authenticate(request), AUTH_BYTES);
    }
    if (this.#state !== 'open') return null;
    if (kind === STREAM.bind) return this.#answer(stream, (request) => this.#host.bind(this, request));
    if (kind === STREAM.startLabelled)
      return this.#answer(stream, (request) => this.#host.startLabelled(this, request));
    if (kind === STREAM.unbind) return this.#answer(stream, (request) => this.#unbind(request));
    if (kind === STREAM.patch) return this.#answer(stream, async () => NO_PATCH);
    if (kind === STREAM.serviceInfo) return this.#answer(stream, async () => ({ Region: this.#host.region }));
    return null;
  };

  readonly #alive = (): void => this.#heartbeats?.alive();

  // --- calls of the agent ----------------------------------------------------------------------------------------

  /** Answers one call. The response is followed by the end of the stream, which agents wait for. */
  #answer(stream: MuxStream, work: (request: Members) => Promise<object>, maxBytes?: number): StreamDuplex {
    const duplex = new StreamDuplex();
    duplex.attach(stream);
    const collector = new JsonCollector(maxBytes);
    let held = 0;
    const release = (): void => {
      this.#callBytes -= held;
      held = 0;
    };
    duplex.once('close', release);
    const add = (bytes: Buffer): void => {
      held += bytes.length;
      this.#callBytes += bytes.length;
      const collected = this.#callBytes > CALLS_BYTES ? TOO_MUCH : collector.add(bytes);
      if (collected === null) return;
      release();
      duplex.off('data', add).resume();
      if ('problem' in collected) {
        duplex.end(JSON.stringify({ Error: collected.problem }));
        return;
      }
      const respond = (answer: object): void => {
        const told = isRefusal(answer) ? { Error: refusalText(answer) } : answer;
        if (!duplex.destroyed) duplex.end(JSON.stringify(told));
      };
      work(new Members(collected.value)).then(respond, (fault: unknown) => {
        reportFault(fault);
        respond({ Error: 'the edge failed' });
      });
    };
    return duplex.on('data', add);
  }

  async #authenticate(request: Members): Promise<object> {
    const facts = agentFacts(request.object('Extra') ?? new Members({}));
    const started = await this.#host.start(this, request, facts);
    if (isRefusal(started)) return this.#refused(started);
    if (this.#isClosed()) {
      this.#host.ended(this, 'the agent left while it authenticated');
      return {};
    }
    this.#state = 'open';
    this.onStarted();
    this.#facts = facts;
    clearTimeout(this.#timer);
    this.#heartbeats = new Heartbeats(this.#connection.mux, facts, (silentMs) =>
      this.close(`no heartbeat for ${Math.round(silentMs / 1_000)} s`),
    );
    const { clientId, cookie } = started;
    const extra = { Version: PROTOCOL_VERSION, Region: this.#host.region, Cookie: cookie, AccountName: '' };
    return {
      Version: PROTOCOL_VERSION,
      ClientId: clientId,
      Extra: { ...extra, SessionDuration: 0, PlanName: '', Banner: '', AgentSessionID: clientId },
    };
  }

  /** A connection may end while something is decided about it. */
  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  /** The agent closes the connection once it has read the refusal; if not, its time is up soon. */
  #refused(refusal: Refusal): Refusal {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(refusal.message), 1_000);
    return refusal;
  }

  /** Unbinding is idempotent: agents repeat it, also for tunnels that were stopped. */
  async #unbind(request: Members): Promise<object> {
    await this.#host.unbind(this, request.text('Id'));
    return {};
  }

  // --- commands --------------------------------------------------------------------------------------------------

  /** Calls the agent: type and body in one frame, because it never recovers from an incomplete body. */
  #call(type: number, body: string): Promise<Members | null> {
    return new Promise((resolve) => {
      const duplex = new StreamDuplex();
      const collector = new JsonCollector();
      const settle = (answer: Members | null): void => {
        clearTimeout(timer);
        resolve(answer);
        if (answer === null) duplex.destroy();
        else duplex.end();
      };
      const timer = setTimeout(() => settle(null), COMMAND_MS);
      duplex.on('error', () => settle(null)).on('end', () => settle(null));
      duplex.on('data', (bytes: Buffer) => {
        const collected = collector.add(bytes);
        if (collected !== null) settle('value' in collected ? new Members(collected.value) : null);
      });
      const stream = this.#connection.mux.open(duplex);
      if (stream === null) {
        settle(null);
        return;
      }
      const message = Buffer.alloc(TYPE_BYTES + Buffer.byteLength(body));
      message.writeUInt32BE(type, 0);
      message.write(body, TYPE_BYTES);
      stream.write(message);
      duplex.attach(stream);
    });
  }

  /** Carries one connection of a client to a tunnel. */
  carry(head: ProxyHead, preface: Uint8Array | null): StreamDuplex {
    return this.connections.open(head, preface);
  }
}

export interface CommandFailure {
  readonly kind: 'unsupported' | 'failed' | 'unreachable';
  readonly message: string;
}
