import type { Socket } from 'node:net';
import type { ConnectionFacts } from '../engine/drivers/exchange_port.ts';
import type { Deadline, Deadlines } from '../io/deadlines.ts';
import { endGently } from '../io/write_buffer.ts';
import { ReadBuffer } from '../io/read_buffer.ts';
import { attach, type SocketOwner } from '../io/socket_owner.ts';
import { type Reading, tickBatch, WAITING_BYTES } from '../io/tick_batch.ts';
import { ConnectionOutput } from './connection_output.ts';
import { ERROR } from './error_codes.ts';
import { FloodGate } from './flood_gate.ts';
import { type ConnectionError, FrameReader, type FrameTaker, protocol } from './frame_reader.ts';
import * as frames from './frames.ts';
import { TABLE_BYTES } from './hpack/dynamic_table.ts';
import * as limits from './limits.ts';
import type { Http2Shared } from './server_exchange.ts';
import { FLOOD, ServerStreams } from './server_streams.ts';

/** RFC 9113 §3.4 */
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

const { SETTING } = frames;

/** The first frames of the server: its settings, and the window of the connection. */
const OWN_PREFACE =
  frames.settingsFrame([
    [SETTING.maxConcurrentStreams, limits.CONCURRENT_STREAMS],
    [SETTING.initialWindowSize, limits.CLIENT_STREAM_BYTES],
    [SETTING.maxHeaderListSize, limits.HEAD_CEILING_BYTES],
    [SETTING.enableConnectProtocol, 1], // RFC 8441
  ]) + frames.windowUpdateFrame(0, limits.CLIENT_CONNECTION_BYTES - frames.DEFAULT_WINDOW_BYTES);

/** The payload of the ping of a drain: who acknowledges it has read the GOAWAY before it. */
const DRAIN_PING = 'draining';

/** How long a drain waits for that, and then for the client to close. */
const DRAIN_PING_MS = 1_000;
const DRAIN_CLOSE_MS = 250;

/** State shared by all connections of a listener. */
export interface Http2State extends Http2Shared {
  /** They watch all open connections. */
  readonly connections: Deadlines<Http2Connection>;
  /** A connection has closed. */
  closed(connection: Http2Connection): void;
}

/** A connection with a client: from its bytes to frames, its deadlines and its end. */
export class Http2Connection implements Deadline, Reading, SocketOwner, FrameTaker {
  deadline = 0;
  slot = -1;
  readonly socket: Socket;
  readonly output: ConnectionOutput;
  readonly #shared: Http2State;
  readonly #input = new ReadBuffer();
  readonly #reader = new FrameReader(this, limits.HEAD_CEILING_BYTES);
  readonly #flood: FloodGate;
  readonly #streams: ServerStreams;
  #prefaceBytes = 0;
  #isAdvancing = false;
  #isPaused = false;
  /** The connection ends: input is ignored. */
  #isOver = false;
  /** The deadline is that of an incomplete head. */
  #isInBlock = false;
  #drainTimer: NodeJS.Timeout | null = null;

  constructor(socket: Socket, facts: ConnectionFacts, shared: Http2State) {
    this.socket = socket;
    this.#shared = shared;
    this.output = new ConnectionOutput(socket, shared.limits.writeIdleMs);
    this.#flood = new FloodGate(this.output);
    const connection = { facts, output: this.output, drain: () => this.drain() };
    this.#streams = new ServerStreams(connection, shared, this.#flood, () => this.#finished());
  }

  /** Serves the connection from now on. */
  begin(): void {
    const { connections, limits: times } = this.#shared;
    this.output.send(OWN_PREFACE);
    connections.watch(this, times.headMs);
    attach(this.socket, this);
    this.socket.resume(); // a connection that began with HTTP/1.1 was paused
  }

  // --- input --------------------------------------------------------------------------------------------------------

  came(bytes: Buffer, from: number, to: number, isShared: boolean): boolean {
    if (this.#isOver) return true;
    this.#input.add(bytes, from, to, isShared);
    if (to - from > WAITING_BYTES) this.advance();
    else tickBatch.read(this);
    return false; // bodies keep bytes that are not shared
  }

  /** Reads all frames that have arrived. */
  advance(): void {
    if (this.#isAdvancing || this.#isOver) return;
    this.#isAdvancing = true;
    let read = this.#readPreface();
    while (read === true && !this.#isOver && !this.#streams.isBehind) read = this.#reader.read(this.#input);
    this.#isAdvancing = false;
    if (typeof read === 'object') this.#end(read.code, read.detail);
    if (this.#isOver) this.#input.clear();
    else this.#input.leaveShared();
    this.#listen();
    this.#rest();
  }

  /** Reads from the socket, unless the client reads too little of its responses. */
  #listen(): void {
    const pauses = this.#streams.isBehind && !this.#isOver;
    if (pauses === this.#isPaused) return;
    this.#isPaused = pauses;
    if (pauses) this.socket.pause();
    else {
      this.socket.resume();
      tickBatch.read(this);
    }
  }

  #finished(): void {
    if (this.#isPaused) this.#listen();
    if (this.#streams.isIdle) this.#rest();
  }

  #readPreface(): boolean | ConnectionError {
    const left = PREFACE.length - this.#prefaceBytes;
    if (left === 0) return true;
    const { bytes, from } = this.#input;
    const count = Math.min(left, this.#input.length);
    const end = this.#prefaceBytes + count;
    if (bytes.compare(PREFACE, this.#prefaceBytes, end, from, from + count) !== 0)
      return protocol('the connection does not begin with the preface');
    this.#prefaceBytes = end;
    this.#input.from += count;
    return end === PREFACE.length;
  }

  /** Sets the deadline: that of an incomplete head, or of a connection without streams. */
  #rest(): void {
    if (this.#isAdvancing || this.#isOver || !this.#reader.hasBegun) return;
    const { connections, limits: times } = this.#shared;
    if (this.#reader.isWithinBlock) {
      if (!this.#isInBlock) this.deadline = connections.after(times.headMs);
      this.#isInBlock = true;
      return;
    }
    this.#isInBlock = false;
    if (!this.#streams.isIdle) this.deadline = 0;
    else if (this.#streams.isClosing) this.#end(ERROR.NO_ERROR);
    else this.deadline = connections.after(times.keepAliveMs);
  }

  // --- frames -------------------------------------------------------------------------------------------------------

  data(stream: number, bytes: Buffer, flowBytes: number, endsStream: boolean): ConnectionError | null {
    const flow = { bytes: flowBytes, isStable: this.#input.isStable };
    return this.#streams.data(stream, bytes, flow, endsStream);
  }

  head(stream: number, block: Buffer, endsStream: boolean): ConnectionError | null {
    return this.#streams.head(stream, block, endsStream);
  }

  reset(stream: number): ConnectionError | null {
    return this.#streams.reset(stream);
  }

  windowUpdate(stream: number, by: number): ConnectionError | null {
    return this.#streams.windowUpdate(stream, by);
  }

  setting(id: number, value: number): ConnectionError | null {
    if (id === SETTING.enablePush && value > 1) return protocol('SETTINGS_ENABLE_PUSH is neither 0 nor 1');
    if (id === SETTING.maxFrameSize && (value < frames.MAX_FRAME_BYTES || value > 0xff_ffff))
      return protocol('SETTINGS_MAX_FRAME_SIZE is out of range');
    if (id === SETTING.headerTableSize && value < TABLE_BYTES) this.output.shrinkTable();
    // Nothing of ours depends on the others.
    return id === SETTING.initialWindowSize ? this.#streams.setInitialWindow(value) : null;
  }

  settings(): ConnectionError | null {
    this.output.send(frames.SETTINGS_ACK);
    return this.ignored();
  }

  ping(payload: string, isAck: boolean): ConnectionError | null {
    if (!isAck) this.output.send(frames.pingFrame(payload, true));
    else if (this.#drainTimer !== null && payload === DRAIN_PING) this.#endDrain();
    return this.ignored();
  }

  /** The client opens no more streams, and closes the connection after its last one. */
  goaway(): ConnectionError | null {
    this.#streams.isClosing = true;
    return null;
  }

  ignored(): ConnectionError | null {
    return this.#flood.control() ? FLOOD : null;
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  /**
   * RFC 9113 §6.8: a first GOAWAY, a round trip for streams in flight, then the final GOAWAY. The connection
   * ends after its last stream.
   */
  drain(): void {
    if (this.#isOver || this.#drainTimer !== null) return;
    this.output.send(
      frames.goawayFrame(frames.MAX_31_BITS, ERROR.NO_ERROR) + frames.pingFrame(DRAIN_PING, false),
    );
    this.#drainTimer = setTimeout(() => this.#endDrain(), DRAIN_PING_MS);
  }

  #endDrain(): void {
    clearTimeout(this.#drainTimer!);
    if (this.#isOver || this.#streams.isClosing) return;
    this.#streams.isClosing = true;
    if (this.#streams.isIdle) this.#end(ERROR.NO_ERROR);
    else this.output.send(frames.goawayFrame(this.#streams.lastId, ERROR.NO_ERROR));
  }

  /** Ends the connection so that the client can read why. */
  #end(code: number, detail = ''): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reader.clear();
    this.#streams.lose();
    this.output.send(frames.goawayFrame(this.#streams.lastId, code, detail));
    if (!endGently(this.socket, this.output.buffer)) return;
    if (this.#drainTimer === null)
      this.deadline = this.#shared.connections.after(this.#shared.limits.lingerMs);
    else this.#drainTimer = setTimeout(() => this.socket.destroy(), DRAIN_CLOSE_MS);
  }

  expire(): void {
    if (this.#isOver || !this.#reader.hasBegun) this.socket.destroy();
    else if (this.#isInBlock) this.#end(ERROR.PROTOCOL_ERROR, 'a head did not arrive in time');
    else this.#end(ERROR.NO_ERROR);
  }

  /** A client that half-closes has left. */
  peerEnded(): void {
    this.advance();
    this.output.buffer.settle();
    if (!this.#streams.isIdle) this.socket.destroy();
    else this.#end(ERROR.NO_ERROR);
  }

  closed(): void {
    this.advance();
    this.#isOver = true;
    if (this.#drainTimer !== null) clearTimeout(this.#drainTimer);
    this.#input.clear();
    this.#reader.clear();
    this.#streams.lose();
    // Streams that were reset before wait until the system needs nothing of them.
    this.output.proceed();
    this.#shared.closed(this);
  }
}
