import { type DocumentCode, action, request } from '../code.ts';

const header = (count: number): string =>
  Array.from({ length: count }, (_, index) => `            x-${index + 1}: 'yes'`).join('\n');

const query = (count: number): string =>
  Array.from({ length: count }, (_, index) => `            - { key: k${index + 1}, value: v }`).join('\n');

// table: codes of headers and query parameters, with their examples
export const HEADER_CODES: readonly DocumentCode[] = [
  {
    number: 2208,
    title: 'Header name too long',
    means: 'Header names have at most 256 characters.',
    bad: action(`remove-headers { headers: [x-${'long'.repeat(70)}] }`),
    good: action('remove-headers { headers: [x-long] }'),
  },
  {
    number: 2209,
    title: 'Header value too long',
    means: 'Header values have at most 8192 characters.',
    bad: action(`add-headers { headers: { x-long: '${'long'.repeat(2100)}' } }`),
    good: action(`add-headers { headers: { x-long: 'long' } }`),
  },
  {
    number: 2210,
    title: 'Invalid header name',
    means:
      'The name is not a valid header name, or policies must not set the header: User-Agent and connection-specific headers (Connection, Content-Length, Transfer-Encoding and others).',
    bad: action(`add-headers { headers: { 'x lane': beta } }`),
    good: action('add-headers { headers: { x-lane: beta } }'),
  },
  {
    number: 2211,
    title: 'Invalid header value',
    means: 'The value has line breaks or other characters that are not allowed in headers.',
    bad: action(`add-headers { headers: { x-lane: "beta\\nset-cookie: a=b" } }`),
    good: action('add-headers { headers: { x-lane: beta } }'),
  },
  {
    number: 2212,
    title: 'Too many headers',
    means: 'One action can add or remove at most ten headers. Use a second action for more.',
    bad: request(`      - type: add-headers
        config:
          headers:
${header(11)}
`),
    good: request(`      - type: add-headers
        config:
          headers:
${header(10)}
`),
  },
  {
    number: 2244,
    title: 'Too many query parameters',
    means: 'An http-request can have at most 32 query parameters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params:
${query(33)}
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params:
${query(32)}
`),
  },
  {
    number: 2245,
    title: 'Name of a query parameter too long',
    means: 'Names of query parameters have at most 128 characters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: ${'long'.repeat(33)}, value: v }]
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: long, value: v }]
`),
  },
  {
    number: 2246,
    title: 'Value of a query parameter too long',
    means: 'Values of query parameters have at most 8192 characters.',
    bad: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: k, value: ${'long'.repeat(2100)} }]
`),
    good: request(`      - type: http-request
        config:
          url: https://audit.internal
          query_params: [{ key: k, value: long }]
`),
  },
];
