import type { Stop } from '../../engine/contract.ts';
import type { Module } from '../../engine/module.ts';
import { webSocketHandshake } from './algorithm.ts';
import type { WebsocketTcpConverterConfig } from './module_schema.ts';
import { numbers, reasons } from './facts.ts';

type Code = keyof typeof reasons;

const NO_WEBSOCKET = numbers.noWebSocket.number;

/** Accepts only WebSockets and connects them to TCP connections. */
export const websocketTcpConverter: Module<WebsocketTcpConverterConfig, Code> = {
  type: 'websocket_tcp_converter',
  reasons,
  compile: (_config, linked) => {
    const stop = (code: Code): Stop<Code> => ({
      verdict: 'stop',
      reason: { code, detail: {} },
      response: linked.refusal(400, NO_WEBSOCKET, 'This endpoint accepts only WebSocket connections'),
    });
    const versionResponse = linked.refusal(426, NO_WEBSOCKET, 'This endpoint requires WebSocket version 13');
    const stops = {
      no_upgrade: stop('websocket_tcp_converter.no_upgrade'),
      bad_key: stop('websocket_tcp_converter.bad_key'),
      // RFC 6455 §4.4
      other_version: {
        ...stop('websocket_tcp_converter.other_version'),
        response: {
          ...versionResponse,
          headers: [...versionResponse.headers, 'sec-websocket-version', '13'],
        },
      },
    };
    return {
      onRequest: (request) => {
        const handshake = webSocketHandshake(request);
        if ('refused' in handshake) return stops[handshake.refused];
        return {
          verdict: 'pass',
          reason: { code: 'websocket_tcp_converter.converted', detail: {} },
          edits: [{ edit: 'convert', head: { status: 101, headers: handshake.accepted } }],
        };
      },
    };
  },
};
