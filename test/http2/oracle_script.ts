import { BLOCK_ENDS, HEADS, RAW_FRAMES, TRAILERS } from './oracle_cases.ts';
import { block, FLAG, FRAME, frame, PREFACE, settings, windowUpdate } from './frames.ts';
import { ChoosingEncoder, type Fields } from './oracle_hpack.ts';
import type { Layout, Sequence, Step } from './oracle_steps.ts';
import { ClientStreams, ERROR_BYTES } from './oracle_streams.ts';

const PADDED = 8;
const PRIORITY = 0x20;
const INITIAL_WINDOW = 4;

/** One step as bytes, with what must follow before the next one. */
export interface Sent {
  readonly label: string;
  readonly bytes: Buffer;
  /** The stream that it is for, or 0. */
  readonly stream: number;
  /** Streams that end, by a response or a reset, and streams whose response begins. */
  readonly ending: readonly number[];
  readonly beginning: readonly number[];
}

/** Writes a sequence, and ends it with what stalled responses wait for. */
export function scriptOf({ first, steps }: Sequence): Sent[] {
  const script = new Script();
  const sent = [script.first(first)];
  for (const step of steps) {
    sent.push(script.write(step));
    // Servers may close a connection once they have read GOAWAY.
    if (step.kind === 'goaway') return sent;
  }
  return [...sent, script.last()];
}

class Script {
  readonly #encoder = new ChoosingEncoder();
  readonly #streams = new ClientStreams();

  write(step: Step): Sent {
    switch (step.kind) {
      case 'request':
        return this.#request(step);
      case 'data':
        return this.#data(step);
      case 'trailers':
        return this.#trailers(step);
      case 'window':
        return this.#window(step);
      case 'head':
        return this.#head(step);
      case 'block':
        return this.#block(step);
      case 'reset':
      case 'settings':
      case 'ping':
      case 'priority':
      case 'unknown':
      case 'goaway':
      case 'raw':
        return this.#other(step);
    }
  }

  first(values: Sequence['first']): Sent {
    return this.#settings(values, PREFACE);
  }

  /** Opens the windows of streams whose responses are incomplete. */
  last(): Sent {
    const bytes = this.#streams.lacking().map(({ id, by }) => {
      this.#streams.widen(id, by);
      return windowUpdate(id, by);
    });
    return this.#sent('the end', 0, Buffer.concat(bytes));
  }

  #settings(values: Sequence['first'], before = Buffer.alloc(0)): Sent {
    for (const [id, value] of values) if (id === INITIAL_WINDOW) this.#streams.setInitialWindow(value);
    return this.#sent(`SETTINGS ${JSON.stringify(values)}`, 0, Buffer.concat([before, settings(values)]));
  }

  #sent(label: string, stream: number, bytes: Buffer): Sent {
    return { label, bytes, stream, ...this.#streams.due() };
  }

  #request({ method, path, fields, length, ends, skips, layout }: Step & { kind: 'request' }): Sent {
    this.#streams.next += 2 * skips;
    const pseudo = [
      [':method', method],
      [':scheme', 'http'],
      [':authority', 'a.test'],
      [':path', path],
    ] as const;
    const declared = ends ? null : length;
    const more = declared === null ? fields : [...fields, ['content-length', String(declared)] as const];
    const id = this.#streams.open(method, path, declared);
    if (ends) this.#streams.complete(id);
    const bytes = this.#headers(id, [...pseudo, ...more], ends, layout);
    return this.#sent(`${method} ${path}${ownText(layout)}`, id, bytes);
  }

  #data({ on, bytes, ends, padding, moreFlags }: Step & { kind: 'data' }): Sent {
    const id = this.#streams.idOf(on);
    const streams = this.#streams;
    const count = streams.fitting(id, bytes);
    let label = `DATA on ${streams.named(id)}`;
    if (streams.isOpen(id)) streams.send(id, count);
    const declared = streams.declared(id);
    // A server may respond once all that was declared has arrived: the end of the stream is sent with it.
    const isCompleted = declared === 0 && !ends;
    if (declared !== null && declared < 0) {
      label += ', more than declared';
      streams.fail(id);
    } else if (streams.isOpen(id) && (ends || isCompleted)) {
      if (declared !== null && declared > 0) label += ', less than declared';
      streams.complete(id);
    }
    const content = padded(Buffer.alloc(count, `content of ${id}, `), padding);
    const flags = (ends ? FLAG.endStream : 0) | moreFlags | paddedFlag(padding);
    const end = isCompleted ? frame(FRAME.data, FLAG.endStream, id) : Buffer.alloc(0);
    return this.#sent(label, id, Buffer.concat([frame(FRAME.data, flags, id, content), end]));
  }

  #trailers({ on, name, ends, layout }: Step & { kind: 'trailers' }): Sent {
    const id = this.#streams.idOf(on);
    const isShort = (this.#streams.declared(id) ?? 0) > 0;
    const how = [
      `trailers, ${name}`,
      ...(ends ? [] : ['no END_STREAM']),
      ...(isShort ? ['less than declared'] : []),
    ];
    const label = `${how.join(', ')}, on ${this.#streams.named(id)}${ownText(layout)}`;
    if (id === this.#streams.next) this.#streams.open('', '', null);
    if (this.#streams.isOpen(id)) this.#streams.complete(id, ERROR_BYTES);
    return this.#sent(label, id, this.#headers(id, TRAILERS[name]!, ends, layout));
  }

  #window({ on, by, isReserved, bytes }: Step & { kind: 'window' }): Sent {
    const id = on === null ? 0 : this.#streams.idOf(on);
    const what = bytes === 4 ? `WINDOW_UPDATE by ${by}` : 'WINDOW_UPDATE of another length';
    const label = id === 0 ? what : `${what} on ${this.#streams.named(id)}`;
    if (bytes === 4 && by === 0) this.#streams.fail(id);
    else if (bytes === 4) this.#streams.widen(id, by);
    const payload = Buffer.alloc(Math.max(4, bytes));
    payload.writeUInt32BE(isReserved ? by + 0x8000_0000 : by);
    return this.#sent(label, id, frame(FRAME.window, 0, id, payload.subarray(0, bytes)));
  }

  #head({ name, layout }: Step & { kind: 'head' }): Sent {
    const id = this.#streams.open('GET', '/', null);
    this.#streams.complete(id, ERROR_BYTES);
    return this.#sent(`head: ${name}${ownText(layout)}`, id, this.#headers(id, HEADS[name]!, true, layout));
  }

  #block({ name, isFirst }: Step & { kind: 'block' }): Sent {
    const id = this.#streams.open('GET', '/', null);
    this.#streams.complete(id, ERROR_BYTES);
    const end = Buffer.from(BLOCK_ENDS[name]!, 'hex');
    const base = block(HEADS['the same host']!);
    const all = Buffer.concat(isFirst ? [end, base] : [base, end]);
    const flags = FLAG.endStream | FLAG.endHeaders;
    return this.#sent(
      `block: ${isFirst ? 'before a head, ' : ''}${name}`,
      id,
      frame(FRAME.headers, flags, id, all),
    );
  }

  #other(step: Exclude<Step, { kind: 'request' | 'data' | 'trailers' | 'window' | 'head' | 'block' }>): Sent {
    switch (step.kind) {
      case 'reset': {
        const id = this.#streams.idOf(step.on);
        const label = `RST_STREAM${step.bytes === 4 ? '' : ' of another length'} on ${this.#streams.named(id)}`;
        this.#streams.reset(id);
        const payload = u32(step.code, step.bytes);
        return this.#sent(label, id, frame(FRAME.reset, 0, id, payload));
      }
      case 'settings':
        return this.#settings(step.values);
      case 'ping':
        return this.#sent('PING', 0, frame(FRAME.ping, step.flags, 0, Buffer.alloc(8)));
      case 'priority': {
        const id = this.#streams.idOf(step.on);
        const dependsOn = (step.isOwn ? id : 0) + (step.isExclusive ? 0x8000_0000 : 0);
        const how = `${step.bytes === 5 ? '' : ' of another length'}${step.isOwn ? ' of itself' : ''}`;
        const payload = u32(dependsOn, step.bytes);
        return this.#sent(
          `PRIORITY${how} on ${this.#streams.named(id)}`,
          0,
          frame(FRAME.priority, 0, id, payload),
        );
      }
      case 'unknown': {
        const id = step.on === null ? 0 : this.#streams.idOf(step.on);
        const bytes = frame(step.type, step.flags, id, Buffer.from(step.payload, 'hex'));
        return this.#sent(`a frame of type ${step.type}`, 0, bytes);
      }
      case 'goaway': {
        const payload = Buffer.concat([u32(step.last, 4), u32(step.code, 4), Buffer.alloc(step.bytes - 8)]);
        return this.#sent(`GOAWAY ${step.code}`, 0, frame(FRAME.goaway, 0, 0, payload));
      }
      case 'raw': {
        const last = Math.max(1, this.#streams.next - 2);
        const label = `raw: ${step.name}, after ${this.#streams.named(last)}`;
        const bytes = RAW_FRAMES[step.name]!({ next: this.#streams.next, last });
        this.#streams.next += 2;
        return this.#sent(label, 0, bytes);
      }
    }
  }

  #headers(id: number, fields: Fields, ends: boolean, layout: Layout): Buffer {
    const bytes = this.#encoder.block(fields, layout.choices, layout.sizes);
    const at = layout.cuts.map((cut) => Math.floor((bytes.length * cut) / 1_000)).sort((a, b) => a - b);
    const bounds = [0, ...at, bytes.length];
    const pieces = bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
    const frames = pieces.map((piece, index) => {
      const end = index === pieces.length - 1 ? FLAG.endHeaders : 0;
      if (index > 0) return frame(FRAME.continuation, end, id, piece);
      const { padding, priority, moreFlags } = layout;
      const weight =
        priority && Buffer.concat([u32(priority.isOwn ? id : 0, 4), Buffer.from([priority.weight])]);
      const flags =
        end | (ends ? FLAG.endStream : 0) | (weight === null ? 0 : PRIORITY) | paddedFlag(padding);
      const content = weight === null ? piece : Buffer.concat([weight, piece]);
      return frame(FRAME.headers, flags | moreFlags, id, padded(content, padding));
    });
    return Buffer.concat(frames);
  }
}

function ownText({ priority }: Layout): string {
  return priority?.isOwn === true ? ', depends on itself' : '';
}

function paddedFlag(padding: number | null): number {
  return padding === null ? 0 : PADDED;
}

function padded(content: Buffer, padding: number | null): Buffer {
  return padding === null ? content : Buffer.concat([Buffer.from([padding]), content, Buffer.alloc(padding)]);
}

function u32(value: number, bytes: number): Buffer {
  const payload = Buffer.alloc(Math.max(4, bytes));
  payload.writeUInt32BE(value);
  return payload.subarray(0, bytes);
}
