import { BOOL, STRING } from '../../cel/types.ts';
import { resultOf } from '../result_types.ts';
import type { Filter } from '../facts.ts';
import type { CompressionConfig } from './module_schema.ts';
import type { CompressResponseConfig } from './action_schema.ts';

export const reasons = {
  'compression.compressed': { message: 'the response is compressed', decision: 'allow' },
  'compression.not_wanted': { message: 'the client accepts neither gzip nor deflate', decision: 'allow' },
  'compression.no_body': { message: 'the response has no body', decision: 'allow' },
  'compression.partial': { message: 'the response is partial', decision: 'allow' },
  'compression.already_encoded': { message: 'the response is already encoded', decision: 'allow' },
  'compression.no_transform': { message: 'Cache-Control forbids transformations', decision: 'allow' },
} as const;

export const messages = {
  compressed: 'the response is compressed',
  not_wanted: 'the client accepts none of the codings, or prefers the identity coding',
  no_body: 'the response has no body to compress',
  partial: 'the response is partial and must keep its bytes',
  already_encoded: 'the response is already encoded',
  no_transform: 'the response or the request forbids changing the body',
};

const CODINGS = { 'accept-encoding': ['gzip', 'br', 'identity'] };

const TEXT = { 'content-type': 'text/plain' };
const BODY = 'hello hello';
const ANSWERS = [
  { headers: TEXT, body: BODY },
  { headers: { ...TEXT, 'content-encoding': 'gzip' }, body: BODY },
  { headers: { ...TEXT, 'cache-control': 'no-transform' }, body: BODY },
  { status: 206, headers: { ...TEXT, 'content-range': 'bytes 0-10/4000' }, body: BODY },
  { headers: { 'content-type': 'image/png' }, body: BODY },
  204,
];

export const compression = {
  module: {
    type: 'compression',
    place: 'route',
    edgeKinds: ['https'],
    ends: 'never',
    reads: [{ header: 'accept-encoding' }, 'response'],
    samples: () => ({ headers: CODINGS, answers: ANSWERS }),
    costNs: 60,
    reasons,
    examples: {
      good: [{}],
      bad: [{ config: { level: 9 }, finding: 'edge.unknown_key' }],
    },
  },
  action: {
    type: 'compress-response',
    phases: ['on_http_response'],
    ends: { when: 'never', how: [] },
    result: resultOf('compress', 'Compression of the response.', {
      already_compressed: [BOOL, 'Whether the upstream had compressed it.'],
      negotiated_algorithm: [STRING, 'The chosen coding; empty for none.'],
    }),
    leavesRequest: false,
    legacyTypes: ['compress'],
    reads: [{ header: 'accept-encoding' }, 'response'],
    samples: () => ({ headers: CODINGS }),
    costNs: 80,
    reasons: messages,
    examples: {
      good: [{ algorithms: ['gzip', 'br'] }],
      bad: [{ config: { algorithms: ['lzw'] }, finding: 2214 }],
    },
  },
} satisfies Filter<CompressionConfig, CompressResponseConfig>;
