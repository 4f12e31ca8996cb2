import type { RequestHead } from '../../src/engine/contract.ts';
import type { Answers, AnswerTo, Question, Reply, Sent } from '../../src/engine/questions.ts';
import { REFUSALS } from '../../src/engine/refusals.ts';
import { ENGINE_REASONS } from '../../src/engine/refusals.ts';
import { readRequestHead } from '../../src/engine/request_head.ts';
import { forwardedResponse, requestForwarder, upgradeOf } from '../../src/http/forwarding.ts';
import { formatTarget } from '../../src/http/target.ts';
import type { ExchangePort, Refused } from '../../src/engine/drivers/exchange_port.ts';

/** What one request left behind: the place of its event. */
export interface Trace {
  readonly head: RequestHead | null;
  readonly refused: Refused | null;
  forwards: Answers['forward'][];
  bodies: Answers['body'][];
  sent: Sent | null;
  status: number;
  completions: number;
  failed: unknown;
}

/** The decision of a request: asks questions, receives answers. */
export type Script = (head: RequestHead, trace: Trace) => Generator<Question, void, AnswerTo<Question>>;

/** A small scripted engine behind the driver's port, which records the answers. */
export function testExchangePort(script: Script): {
  exchanges: ExchangePort;
  traces: Trace[];
  readonly arrived: (count: number) => Promise<void>;
} {
  const traces: Trace[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  const walks = new WeakMap<object, Generator<Question, void, AnswerTo<Question>>>();

  function completed(trace: Trace): void {
    trace.completions++;
    const done = traces.filter((one) => one.completions > 0).length;
    for (const waiter of waiting) if (done >= waiter.count) waiter.resolve();
  }
  function note(head: RequestHead | null, refused: Refused | null): Trace {
    const trace: Trace = {
      head,
      refused,
      forwards: [],
      bodies: [],
      sent: null,
      status: 0,
      completions: 0,
      failed: null,
    };
    traces.push(trace);
    return trace;
  }
  function step(trace: Trace, next: IteratorResult<Question, void>): Question | null {
    if (next.done === true) {
      completed(trace);
      return null;
    }
    if (next.value.ask === 'reply') trace.status = next.value.reply.status;
    return next.value;
  }

  const exchanges: ExchangePort = {
    nowMs: Date.now,
    begin(raw) {
      const head = readRequestHead(raw.head);
      const trace = note('refused' in head ? head.head : head, null);
      walks.set(
        trace,
        'refused' in head
          ? replying(text(ENGINE_REASONS[head.refused].status, head.message))()
          : script(head, trace),
      );
      return trace;
    },
    next: (exchange) => step(exchange as Trace, walks.get(exchange)!.next()),
    answer(exchange, given) {
      const trace = exchange as Trace;
      if ('cut' in given) trace.sent = given;
      else if ('head' in given || 'detail' in given) trace.forwards.push(given as Answers['forward']);
      else if ('bytes' in given || 'failure' in given) trace.bodies.push(given as Answers['body']);
      return step(trace, walks.get(trace)!.next(given));
    },
    refuse(refused) {
      const trace = note(null, refused);
      trace.status = ENGINE_REASONS[REFUSALS[refused.code]].status;
      completed(trace);
      return text(trace.status, refused.detail);
    },
    fail(exchange, error) {
      const trace = exchange as Trace;
      trace.failed = error;
      completed(trace);
      return null;
    },
  };
  /** Settles when this many requests are complete. */
  function arrived(count: number): Promise<void> {
    if (traces.filter((one) => one.completions > 0).length >= count) return Promise.resolve();
    return new Promise((resolve) => void waiting.push({ count, resolve }));
  }
  return { exchanges, traces, arrived };
}

export function text(status: number, body: string, compress: Reply['compress'] = null): Reply {
  return {
    status,
    headers: ['content-type', 'text/plain'],
    body: { text: body },
    compress,
    upgrade: false,
    close: false,
  };
}

/** Replies without an upstream. */
export function replying(reply: Reply): () => Generator<Question, void, AnswerTo<Question>> {
  return function* walk() {
    yield { ask: 'reply', reply };
  };
}

const forwarded = requestForwarder({ auth: 'service-auth-', mtls: 'service-mtls-' });

const FAILURES = {
  connect: 502,
  overloaded: 503,
  timeout: 504,
  reset: 502,
  invalid: 502,
  cancelled: 0,
  body_timeout: 408,
  body_malformed: 400,
  body_extensions_too_large: 413,
  body_trailers_too_large: 431,
} as const;

export interface ForwardOptions {
  readonly compress?: Reply['compress'];
  /** Buffers the body first. */
  readonly holdBytes?: number;
  readonly host?: string;
  readonly tls?: boolean;
  readonly headers?: readonly string[];
}

/** Forwards to a port of this machine, as the engine does. */
export function forwarding(port: number | (() => number), options: ForwardOptions = {}): Script {
  return function* walk(head) {
    if (options.holdBytes !== undefined) {
      const held = (yield { ask: 'body', limitBytes: options.holdBytes }) as Answers['body'];
      if ('failure' in held) {
        yield { ask: 'reply', reply: text(held.failure === 'too_large' ? 413 : 408, held.failure) };
        return;
      }
    }
    const answer = (yield {
      ask: 'forward',
      converts: null,
      request: {
        endpoint: {
          kind: 'static',
          id: 'app',
          host: options.host ?? '127.0.0.1',
          port: typeof port === 'number' ? port : port(),
          tls: options.tls ?? false,
        },
        method: head.method,
        target: formatTarget(head.path, head.query),
        headers: forwarded(head.headers, head.authority, 'http', '127.0.0.1'),
        body: null,
        upgrade: upgradeOf(head.headers),
      },
    }) as Answers['forward'];
    if ('failure' in answer) {
      const status = FAILURES[answer.failure];
      yield { ask: 'reply', reply: text(status, answer.failure) };
      return;
    }
    const { status, headers } = answer.head;
    yield {
      ask: 'reply',
      reply: {
        status,
        headers: [...forwardedResponse(headers, 'service-error-code'), ...(options.headers ?? [])],
        body: 'upstream',
        compress: options.compress ?? null,
        upgrade: status === 101,
        close: false,
      },
    };
  };
}
