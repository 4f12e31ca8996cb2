import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CLOCKS_DIFFER_MS } from '../../src/auth/limits.ts';
import { RESPONSE_HEAD_MS, WIRE_LIMITS } from '../../src/http/message_limits.ts';
import {
  CLIENT_STREAM_BYTES,
  CONCURRENT_STREAMS,
  CONTROL,
  HEAD_CEILING_BYTES,
  HTTP2_HEAD,
  RESETS,
  UPSTREAM_STREAM_BYTES,
} from '../../src/http2/limits.ts';
import { DRAIN_MS, LISTENER_LIMITS } from '../../src/io/listener_limits.ts';
import { KEEP_ALIVE_MS } from '../../src/io/tcp_dial.ts';
import { HALF_OPEN_MS } from '../../src/io/tcp_forward.ts';
import { UPSTREAM_LIMITS } from '../../src/io/upstream_limits.ts';
import { STREAM_LIMITS } from '../../src/server/tcp_limits.ts';

const seconds = (ms: number) => `${ms / 1_000} s`;
const minutes = (ms: number) => `${ms / 60_000} minutes`;
const size = (bytes: number) => (bytes < 1_048_576 ? `${bytes / 1_024} kB` : `${bytes / 1_048_576} MB`);
const count = (number: number) => number.toLocaleString('en');

const ours = LISTENER_LIMITS;
const theirs = UPSTREAM_LIMITS;

// table: pages and what they say about limits, with the limits of the code
const SAID: readonly (readonly [page: string, text: string])[] = [
  ['fidelity/proxy.md', `request head up to ${size(ours.headBytes)}, then 431`],
  ['fidelity/proxy.md', `a response head of more than ${size(theirs.headBytes)} is`],
  ['fidelity/proxy.md', `${seconds(ours.headMs)} for a head, ${minutes(ours.requestMs)} for a whole request`],
  ['fidelity/proxy.md', `${seconds(ours.bodyIdleMs)} for the next bytes of a body`],
  ['fidelity/proxy.md', `${seconds(ours.writeIdleMs)} for a response that is not read`],
  ['fidelity/proxy.md', `${seconds(ours.keepAliveMs)} for an idle connection`],
  ['fidelity/proxy.md', `an unneeded body is read for ${seconds(ours.lingerMs)}`],
  ['fidelity/proxy.md', `up to ${size(ours.aheadBytes)} of them are buffered`],
  ['fidelity/proxy.md', `does not respond within ${seconds(theirs.continueMs)}`],
  ['fidelity/proxy.md', `kept for ${seconds(theirs.idleConnectionMs)} or one second less`],
  ['fidelity/proxy.md', `at most ${theirs.idleConnections} per upstream`],
  ['fidelity/proxy.md', `${seconds(theirs.connectMs)} for name, TCP and TLS together`],
  [
    'fidelity/wire.md',
    `head limit ${size(WIRE_LIMITS.headBytes)} (431), ${count(WIRE_LIMITS.fields)} fields`,
  ],
  ['fidelity/wire.md', `target ${size(WIRE_LIMITS.targetBytes)} (414)`],
  ['fidelity/wire.md', `chunk extensions of a message ${size(WIRE_LIMITS.extensionBytes)} in total`],
  ['fidelity/wire.md', `trailer section ${size(WIRE_LIMITS.trailerBytes)}`],
  ['fidelity/tls.md', `within ${seconds(STREAM_LIMITS.dialMs)}, including the backend's TLS`],
  [
    'fidelity/tls.md',
    `for ${STREAM_LIMITS.idleMs / 3_600_000} hour, or for ${minutes(HALF_OPEN_MS)} after one side`,
  ],
  ['fidelity/tls.md', `TCP keep-alive probes after ${seconds(KEEP_ALIVE_MS)}`],
  ['fidelity/http2.md', `head over ${size(HTTP2_HEAD.headBytes)} or ${HTTP2_HEAD.fields} fields: 431`],
  ['fidelity/http2.md', `a header block over ${size(HEAD_CEILING_BYTES)}`],
  ['fidelity/http2.md', `${CONCURRENT_STREAMS} concurrent streams; ${RESETS} streams`],
  [
    'fidelity/http2.md',
    `${CONTROL.frames} PING, SETTINGS and PRIORITY frames, in ${seconds(CONTROL.windowMs)}`,
  ],
  [
    'fidelity/http2.md',
    `unread content: ${size(CLIENT_STREAM_BYTES)} of a client, ${size(UPSTREAM_STREAM_BYTES)} of an upstream`,
  ],
  ['fidelity/saml.md', `clocks may differ by ${seconds(CLOCKS_DIFFER_MS)}`],
  ['fidelity/simulator.md', `upstream limit ${seconds(RESPONSE_HEAD_MS)} to the head`],
  ['operations.md', `after ${seconds(DRAIN_MS)} the remaining connections are closed`],
];

it.each(SAID)('docs/%s: %s', (page, text) => {
  expect(readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8')).toContain(text);
});
