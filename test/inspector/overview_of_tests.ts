import type { SecondStats } from '../../src/inspector/wire.ts';
import type { Overview } from '../../src/inspector/wire_overview.ts';
import { PLACE } from './exchanges.ts';

const AT_MS = Date.UTC(2026, 0, 2, 9, 14, 0);
const NOW_MS = AT_MS + 60_000;

export const secondOf = (index: number): SecondStats => ({
  atMs: AT_MS + index * 1000,
  requests: 200 + Math.round(40 * Math.sin(index / 5)),
  classes: [0, 0, 180 + Math.round(40 * Math.sin(index / 5)), 2, 12, index % 17 === 0 ? 6 : 0],
  stops: 10,
  p50Ms: 1.1,
  p90Ms: 2.4 + Math.cos(index / 7),
  p99Ms: 4 + 2 * Math.sin(index / 3),
  maxMs: 9,
  requestBytes: 1000,
  responseBytes: 90_000,
  open: 3,
});

const classes = [0, 0, 900, 4, 40, 2];

/** An overview with something of everything. */
export const OVERVIEW: Overview = {
  revision: 2,
  nowMs: NOW_MS,
  routes: [
    {
      edge: 'shop',
      hosts: ['shop.test:443', 'www.shop.test:443'],
      match: '/',
      matchType: 'path_prefix',
      pointer: '/edges/https/shop/routes/0',
      place: { file: 'edge.yaml', line: 9, column: 11 },
      filters: [
        { module: 'compression', pointer: '/edges/https/shop/routes/0/compression', stops: 0 },
        { module: 'traffic_policy', pointer: '/edges/https/shop/routes/0/traffic_policy', stops: 24 },
      ],
      backends: ['app'],
      hits: 9120,
      classes,
      p50Ms: 1.1,
      p99Ms: 4.2,
    },
    {
      edge: 'shop',
      hosts: ['shop.test:443'],
      match: '/admin',
      matchType: 'path_prefix',
      pointer: '/edges/https/shop/routes/1',
      place: { file: 'edge.yaml', line: 12, column: 11 },
      filters: [
        { module: 'ip_restriction', pointer: '/edges/https/shop/routes/1/ip_restriction', stops: 40 },
      ],
      backends: ['app', 'spare'],
      hits: 140,
      classes,
      p50Ms: 1,
      p99Ms: 3,
    },
    {
      edge: 'old',
      hosts: ['old.test:443'],
      match: '/',
      matchType: 'path_prefix',
      pointer: '/edges/https/old/routes/0',
      place: null,
      filters: [],
      backends: ['spare'],
      hits: 0,
      classes: [0, 0, 0, 0, 0, 0],
      p50Ms: null,
      p99Ms: null,
    },
  ],
  streams: [
    {
      edge: 'mail',
      kind: 'tls',
      addresses: ['mail.test:993'],
      connections: 12,
      stops: 1,
      bytesIn: 4000,
      bytesOut: 90_000,
    },
  ],
  backends: [
    {
      id: 'app',
      addresses: ['localhost:3000'],
      attempts: 9220,
      failures: {},
      health: 'up',
      lastFailure: null,
    },
    {
      id: 'spare',
      addresses: ['localhost:3001'],
      attempts: 7,
      failures: { 'upstream.connect': 7 },
      health: 'down',
      lastFailure: { atMs: AT_MS, code: 'upstream.connect', detail: 'connect ECONNREFUSED 127.0.0.1:3001' },
    },
  ],
  stops: [
    { by: 'ip_restriction', code: 'ip.denied', count: 40, place: PLACE },
    { by: 'traffic_policy', code: 'rate_limit.exceeded', count: 24, place: null },
  ],
  seconds: Array.from({ length: 120 }, (_, index) => secondOf(index)),
  latency: { p50Ms: 1.1, p90Ms: 2.4, p99Ms: 4.2 },
  states: [
    {
      module: 'circuit_breaker',
      pointer: '/edges/https/shop/routes/0/circuit_breaker',
      place: { file: 'edge.yaml', line: 9, column: 11 },
      label: 'shop.test /',
      changes: [
        {
          atMs: NOW_MS - 50_000,
          code: 'breaker.closed',
          verdict: 'pass',
          message: 'The breaker is closed.',
        },
        { atMs: NOW_MS - 20_000, code: 'breaker.open', verdict: 'stop', message: 'The breaker is open.' },
        {
          atMs: NOW_MS - 8000,
          code: 'breaker.closed',
          verdict: 'pass',
          message: 'The breaker is closed.',
        },
      ],
    },
  ],
  revisions: [
    { revision: 1, atMs: AT_MS - 60_000, changedFiles: [] },
    { revision: 2, atMs: AT_MS, changedFiles: ['edge.yaml'] },
  ],
  kept: {
    rows: 3,
    bytes: 20_000,
    limitBytes: 67_108_864,
    bodyLimitBytes: 65_536,
    dropped: 0,
    unwatched: 0,
    pinned: [],
  },
};
