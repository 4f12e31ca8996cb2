import type { Seen } from './oracle_client.ts';
import type { Sent } from './oracle_script.ts';

/** A difference that is allowed: after such a step, what the edge and what Node have done to a connection or a stream. */
interface Allowed {
  readonly of: 'connection' | 'stream';
  readonly step: RegExp;
  /** Of a connection, with what happened to the stream of the step, in brackets. */
  readonly edge: RegExp;
  readonly node: RegExp;
  /** The section, of RFC 9113 if it names no other one, and why both are right or the edge is stricter. */
  readonly reason: string;
}

// table: allowed differences
const ALLOWED: readonly Allowed[] = [
  {
    of: 'stream',
    step: /^(?:head:|block:|trailers, .* idle stream|trailers, .* less than declared|DATA .*(?:more|less) than declared)/,
    edge: /^400, (?:PROTOCOL_ERROR|unfinished)$/,
    node: /^PROTOCOL_ERROR$/,
    reason: '§8.1.1: a server may describe a malformed request in a response before it resets the stream',
  },
  {
    of: 'stream',
    step: /^head: (?:no :authority|an asterisk of GET|userinfo|a method with a space|an empty :(?:method|authority))$/,
    edge: /^40[045](?:, unfinished)?$/,
    node: /^PROTOCOL_ERROR$/,
    reason: '§8.1.1 and RFC 9110 §15.5: the edge refuses these heads as it does in HTTP/1.1, by a response',
  },
  {
    of: 'stream',
    step: /^head: (?:a name with a space|an empty name|(?:CR|LF|NUL) in a value|a (?:space before|tab after) a value)$/,
    edge: /^400, (?:PROTOCOL_ERROR|unfinished)$/,
    node: /^200, /,
    reason: '§8.2.1: such a request is malformed; Node leaves the field out',
  },
  {
    of: 'stream',
    step: /^head: http2-settings$/,
    edge: /^400, (?:PROTOCOL_ERROR|unfinished)$/,
    node: /^200, /,
    reason:
      '§8.2.2 and RFC 7540 §3.2.1: a field of connections is malformed, and Node does not know this one',
  },
  {
    of: 'stream',
    step: /^head: scheme (?:HTTP|ftp)$/,
    edge: /^400, (?:PROTOCOL_ERROR|unfinished)$/,
    node: /^200, /,
    reason: '§8.3.1: another scheme than that of the connection is for proxies, which the edge is not',
  },
  {
    of: 'stream',
    step: /^head: another host$/,
    edge: /^400, (?:PROTOCOL_ERROR|unfinished)$/,
    node: /^200, /,
    reason: '§8.3.1: a Host field that differs from :authority makes the request malformed',
  },
  {
    of: 'stream',
    step: /^head: (?:CONNECT|a method in lower case)$/,
    edge: /^405(?:, unfinished)?$/,
    node: /^200, /,
    reason: 'RFC 9110 §15.5.6: the edge has no tunnels to other hosts, and methods have one letter case',
  },
  {
    of: 'stream',
    step: /^head: an asterisk of OPTIONS$/,
    edge: /^400(?:, unfinished)?$/,
    node: /^200, /,
    reason: 'RFC 9110 §9.3.7: it is about the server as a whole, which the edge has no answer for',
  },
  {
    of: 'stream',
    step: /^trailers, (?:LF in a value|an empty name|a space before a value), .*open stream(?:, depends on itself)?$/,
    edge: /^PROTOCOL_ERROR$/,
    node: /^(?:200, .*|nothing)$/,
    reason: '§8.2.1: such trailers are malformed; Node leaves the field out',
  },
  {
    of: 'stream',
    step: /^trailers, content-length, .*open stream(?:, depends on itself)?$/,
    edge: /^(?:200, .*|nothing)$/,
    node: /^PROTOCOL_ERROR$/,
    reason: 'RFC 9110 §6.5.1: a trailer is not framing; the edge does not forward it',
  },
  {
    of: 'connection',
    step: /^SETTINGS .*\[(\d+),\d+\].*\[\1,/,
    edge: /^(?:PROTOCOL|FLOW_CONTROL)_ERROR$/,
    node: /^open$/,
    reason: '§6.5.3: values are processed in their order; Node reads the last one of a setting only',
  },
  {
    of: 'connection',
    step: /^SETTINGS \[\[.*\],\[/,
    edge: /^(?:PROTOCOL|FLOW_CONTROL)_ERROR$/,
    node: /^(?:PROTOCOL|FLOW_CONTROL)_ERROR$/,
    reason: '§6.5.2: two settings with mistakes have two codes; the edge sends that of the first one',
  },
  {
    of: 'connection',
    step: /depends on itself$/,
    edge: /^open /,
    node: /^PROTOCOL_ERROR$/,
    reason: '§5.3.2: priorities of RFC 7540, and so streams that depend on themselves, are obsolete',
  },
  {
    of: 'connection',
    step: /^(?:DATA|trailers, .*) on (?:done|reset) stream/,
    edge: /^STREAM_CLOSED \(/,
    node: /^open$/,
    reason: '§5.1: frames for a closed stream are errors of the connection; Node ignores them',
  },
  {
    of: 'connection',
    step: /^(?:DATA|trailers, .*) on stalled stream/,
    edge: /^STREAM_CLOSED \((?!.*unfinished)/,
    node: /^open$/,
    reason: '§5.1: the same, if the response fits the window and has ended',
  },
  {
    of: 'connection',
    step: /^(?:DATA|trailers, .*) on (?:never|stalled) stream/,
    edge: /^open \((?:[24]\d\d, )?STREAM_CLOSED\)$/,
    node: /^STREAM_CLOSED$/,
    reason: '§5.1: after END_STREAM, they are errors of the stream; Node ends the connection',
  },
  {
    of: 'connection',
    step: /^DATA on open stream, more than declared$/,
    edge: /^open \(400, (?:PROTOCOL_ERROR|unfinished)\)$/,
    node: /^INTERNAL_ERROR$/,
    reason: '§8.1.1: it is an error of the stream; Node may end the connection',
  },
  {
    of: 'connection',
    step: /^WINDOW_UPDATE by 0 on (?:open|never|stalled) stream$/,
    edge: /^open \((?:[24]\d\d, )?PROTOCOL_ERROR\)$/,
    node: /^PROTOCOL_ERROR$/,
    reason: '§6.9: it is an error of the stream; Node ends the connection',
  },
  {
    of: 'connection',
    step: /^WINDOW_UPDATE by [1-9]\d* on (?:open|never|stalled) stream$/,
    edge: /^open \((?:[24]\d\d, )?FLOW_CONTROL_ERROR\)$/,
    node: /^FLOW_CONTROL_ERROR$/,
    reason: '§6.9.1: a window that is too large is an error of the stream; Node ends the connection',
  },
  {
    of: 'connection',
    step: /^raw: HEADERS shorter than their priority/,
    edge: /^PROTOCOL_ERROR$/,
    node: /^FRAME_SIZE_ERROR$/,
    reason: '§4.2 and §6.2: one mistake has both codes',
  },
  {
    of: 'connection',
    step: /^raw: DATA (?:without a|shorter than its) padding.*, after (?:done|reset) stream$/,
    edge: /^PROTOCOL_ERROR$/,
    node: /^open$/,
    reason: '§6.1: it is an error of the connection in each state; Node ignores frames of closed streams',
  },
  {
    of: 'connection',
    step: /^raw: DATA (?:without a|shorter than its) padding.*, after (?:never|stalled) stream$/,
    edge: /^PROTOCOL_ERROR$/,
    node: /^STREAM_CLOSED$/,
    reason: '§5.1 and §6.1: the frame has two mistakes',
  },
  {
    of: 'connection',
    step: /^raw: PRIORITY on stream 0/,
    edge: /^PROTOCOL_ERROR$/,
    node: /^open$/,
    reason: '§6.3: it is an error of the connection; Node ignores priorities',
  },
  {
    of: 'connection',
    step: /^raw: unexpected acknowledgement/,
    edge: /^open$/,
    node: /^(?:INTERNAL|PROTOCOL)_ERROR$/,
    reason: '§6.5.3 and §6.7 do not say what an unexpected acknowledgement is; the edge counts it as flood',
  },
  {
    of: 'connection',
    step: /^GOAWAY/,
    edge: /^(?:open|closed)$/,
    node: /^(?:open|closed|PROTOCOL_ERROR)$/,
    reason: '§6.8: either side may close a connection on which it expects nothing more',
  },
];

/** Returns the first difference that no row allows, as text; null if there is none. */
export function differenceOf(
  sent: readonly Sent[],
  edge: readonly Seen[],
  node: readonly Seen[],
): string | null {
  /** The steps after which streams differed. */
  const known = new Map<number, Sent>();
  for (const [at, step] of sent.entries()) {
    const [ours, theirs] = [edge[at], node[at]];
    // Both have ended the connection at an earlier step.
    if (ours === undefined || theirs === undefined) return null;
    // What a frame does to a stream depends on whether that was refused.
    if (known.has(step.stream)) return null;
    if (ours.connection !== theirs.connection) {
      const our = withStream(ours, step);
      const row = rowFor('connection', step, our, theirs.connection);
      return row === undefined ? text(step, 'the connection', our, theirs.connection) : null;
    }
    // A connection that ends takes its streams with it, with or without a reset of each.
    if (ours.connection !== 'open') return null;
    for (const id of new Set([...ours.streams.keys(), ...theirs.streams.keys()])) {
      const [our, their] = [ours.streams.get(id) ?? 'nothing', theirs.streams.get(id) ?? 'nothing'];
      if (our === their) continue;
      const cause = known.get(id) ?? step;
      if (rowFor('stream', cause, our, their) === undefined) return text(step, `stream ${id}`, our, their);
      known.set(id, cause);
    }
  }
  return null;
}

/** What happened to a connection and, in brackets, to the stream of a step. */
function withStream({ connection, streams }: Seen, { stream }: Sent): string {
  return stream === 0 ? connection : `${connection} (${streams.get(stream) ?? 'nothing'})`;
}

function rowFor(of: Allowed['of'], { label }: Sent, ours: string, theirs: string): Allowed | undefined {
  return ALLOWED.find(
    (row) => row.of === of && row.step.test(label) && row.edge.test(ours) && row.node.test(theirs),
  );
}

function text({ label }: Sent, what: string, ours: string, theirs: string): string {
  return `after '${label}', ${what}: '${ours}' of the edge is '${theirs}' of Node`;
}
