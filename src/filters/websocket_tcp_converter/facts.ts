import type { Filter } from '../facts.ts';
import type { WebsocketTcpConverterConfig } from './module_schema.ts';

export const reasons = {
  'websocket_tcp_converter.converted': {
    message: 'the WebSocket is connected to a TCP connection to the backend',
    decision: 'allow',
  },
  'websocket_tcp_converter.no_upgrade': {
    message: 'the request does not request a WebSocket',
    decision: 'block',
  },
  'websocket_tcp_converter.bad_key': {
    message: 'the key of the WebSocket is not 16 bytes in base64',
    decision: 'block',
  },
  'websocket_tcp_converter.other_version': {
    message: 'the WebSocket version is not 13',
    decision: 'block',
  },
} as const;

export const numbers = {
  noWebSocket: {
    number: 3206,
    title: 'WebSocket expected',
    means: 'A route that converts WebSockets to TCP got a request that opens no WebSocket.',
  },
};

export const websocketTcpConverter = {
  numbers,
  module: {
    type: 'websocket_tcp_converter',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'never',
    // It decides whether the key is one, whose letter case counts.
    reads: [{ header: 'sec-websocket-key' }],
    costNs: 50,
    reasons,
    examples: {
      good: [{}],
      bad: [{ config: { enable: true }, finding: 'edge.unknown_key' }],
    },
  },
} satisfies Filter<WebsocketTcpConverterConfig>;
