import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../config_file/read.ts';
import { errorsTo } from '../config_file/report.ts';
import type { Shape } from '../config_file/shape.ts';
import { shaped } from '../config_file/validate.ts';
import { reportDepartures } from '../config_file/shape_messages.ts';

const TEXT = { type: 'string' } as const;
const PORT = { type: 'integer', minimum: 0, maximum: 65_535 } as const;
const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
const HEADERS = {
  type: 'object',
  additionalProperties: { anyOf: [TEXT, { type: 'array', items: TEXT }] },
} as const;

function closed<const Properties extends Readonly<Record<string, Shape>>>(properties: Properties) {
  return { type: 'object', additionalProperties: false, properties } as const;
}

const SHAPE = closed({
  phase: TEXT,
  service: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$', form: 'a name without dots' },
  now: TEXT,
  seed: COUNT,
  request: closed({ method: TEXT, url: TEXT, headers: HEADERS, trailers: HEADERS }),
  response: closed({
    status: { type: 'integer', minimum: 100, maximum: 599 },
    headers: HEADERS,
    trailers: HEADERS,
  }),
  connection: closed({
    client_ip: TEXT,
    client_port: PORT,
    server_ip: TEXT,
    server_port: PORT,
    bytes_in: COUNT,
    bytes_out: COUNT,
    tls: closed({
      version: TEXT,
      cipher_suite: TEXT,
      sni: TEXT,
      alpn: TEXT,
      ja4: TEXT,
      client_certificate: closed({ serial_number: TEXT, common_name: TEXT }),
    }),
  }),
  endpoint: closed({
    id: TEXT,
    host: TEXT,
    port: PORT,
    protocol: { type: 'string', enum: ['http', 'https', 'tcp', 'tls'] },
  }),
  vars: { type: 'object', additionalProperties: {} },
  actions: { type: 'object', additionalProperties: {} },
  secrets: { type: 'object', additionalProperties: { type: 'object', additionalProperties: TEXT } },
  facts: {},
  mmdb: { type: 'array', items: TEXT },
});

/** The values of a shape; every member of an object may be omitted. */
type ValueOf<S> = S extends { properties: infer P }
  ? { readonly [Key in keyof P]?: ValueOf<P[Key]> }
  : S extends { enum: readonly (infer Value)[] }
    ? Value
    : S extends { type: 'string' }
      ? string
      : S extends { type: 'integer' }
        ? number
        : S extends { items: infer Item }
          ? readonly ValueOf<Item>[]
          : S extends { anyOf: readonly (infer Alternative)[] }
            ? ValueOf<Alternative>
            : S extends { additionalProperties: infer Value }
              ? Readonly<Record<string, ValueOf<Value>>>
              : unknown;

/** The scope of an expression as written in a file. Omitted members have defaults. */
export type ScopeFile = ValueOf<typeof SHAPE>;
export type HeadersInFile = ValueOf<typeof HEADERS>;

export interface ReadScope {
  /** The valid members; empty when the file cannot be read. */
  readonly file: ScopeFile;
  readonly diagnostics: readonly Diagnostic[];
  /** Adds the place to a finding that has only a pointer into the file. */
  readonly place: (diagnostic: Diagnostic) => Diagnostic;
}

/** Reads a scope file: YAML or JSON. Never throws. */
export function readScopeFile(name: string, text: string): ReadScope {
  const { document, diagnostics } = readDocument(
    { name, text },
    {
      called: 'a scope file',
      keys: '`request` and `vars`',
      smallest: 'a minimal scope file is `request: { url: https://shop.test/ }`',
      prefix: 'edge',
    },
  );
  if (document === null) return { file: {}, diagnostics, place: (one) => one };
  const found: Diagnostic[] = [...diagnostics];
  const value = shaped(SHAPE, document.value, '', reportDepartures(errorsTo(found, document, 'edge')));
  const place = (one: Diagnostic): Diagnostic => {
    const span = document.spanOf(one.pointer);
    return { ...one, ...(document.source && { source: document.source }), ...(span && { span }) };
  };
  return { file: value ?? {}, diagnostics: found, place };
}
