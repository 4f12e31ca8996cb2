import type { Diagnostic } from '../diagnostics/diagnostic.ts';
import { readDocument } from '../config_file/read.ts';
import { errorsTo } from '../config_file/report.ts';
import type { Shape } from '../config_file/shape.ts';
import { shaped } from '../config_file/validate.ts';
import { reportDepartures } from '../config_file/shape_messages.ts';

/** The scope of an expression as written in a file. Omitted members have defaults. */
export interface ScopeFile {
  readonly phase?: string;
  readonly service?: string;
  readonly now?: string;
  readonly seed?: number;
  readonly request?: {
    readonly method?: string;
    readonly url?: string;
    readonly headers?: HeadersInFile;
    readonly trailers?: HeadersInFile;
  };
  readonly response?: {
    readonly status?: number;
    readonly headers?: HeadersInFile;
    readonly trailers?: HeadersInFile;
  };
  readonly connection?: {
    readonly client_ip?: string;
    readonly client_port?: number;
    readonly server_ip?: string;
    readonly server_port?: number;
    readonly bytes_in?: number;
    readonly bytes_out?: number;
    readonly tls?: {
      readonly version?: string;
      readonly cipher_suite?: string;
      readonly sni?: string;
      readonly alpn?: string;
      readonly ja4?: string;
      readonly client_certificate?: { readonly serial_number?: string; readonly common_name?: string };
    };
  };
  readonly endpoint?: {
    readonly id?: string;
    readonly host?: string;
    readonly port?: number;
    readonly protocol?: 'http' | 'https' | 'tcp' | 'tls';
  };
  readonly vars?: Readonly<Record<string, unknown>>;
  readonly actions?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly facts?: unknown;
  readonly mmdb?: readonly string[];
}

export type HeadersInFile = Readonly<Record<string, string | readonly string[]>>;

const TEXT: Shape = { type: 'string' };
const PORT: Shape = { type: 'integer', minimum: 0, maximum: 65_535 };
const COUNT: Shape = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER };
const HEADERS: Shape = {
  type: 'object',
  additionalProperties: { anyOf: [TEXT, { type: 'array', items: TEXT }] },
};

function closed(properties: Readonly<Record<string, Shape>>): Shape {
  return { type: 'object', additionalProperties: false, properties };
}

const SHAPE: Shape = closed({
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
