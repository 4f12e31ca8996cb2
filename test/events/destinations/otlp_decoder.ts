import { createRequire } from 'node:module';

/** The decoder that OpenTelemetry generates from its own definitions. */

interface Decoder {
  readonly decode: (bytes: Uint8Array) => object;
  readonly toObject: (message: object, options: object) => unknown;
}

const load = createRequire(import.meta.url);
const root = load('@opentelemetry/otlp-transformer/build/src/generated/root.js') as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Decoder } };
        readonly logs: { readonly v1: { readonly ExportLogsServiceRequest: Decoder } };
      };
    };
  };
};
const { trace, logs } = root.opentelemetry.proto.collector;

/** The message as its JSON has it: 64-bit numbers as texts, ids in hexadecimal. */
function decoded({ decode, toObject }: Decoder, bytes: Uint8Array): unknown {
  return hexadecimal(toObject(decode(bytes), { longs: String }));
}

function hexadecimal(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (Array.isArray(value)) return value.map(hexadecimal);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hexadecimal(each)]));
}

export interface DecodedAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

interface DecodedLog {
  readonly body: { readonly stringValue: string };
  readonly eventName: string;
  readonly attributes: readonly DecodedAttribute[];
  readonly traceId?: string;
  readonly spanId?: string;
  readonly severityText: string;
}

export interface DecodedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly DecodedAttribute[];
  readonly status: object;
}

export function decodedTraceRequest(bytes: Uint8Array): unknown {
  return decoded(trace.v1.ExportTraceServiceRequest, bytes);
}

export function decodedLogsRequest(bytes: Uint8Array): unknown {
  return decoded(logs.v1.ExportLogsServiceRequest, bytes);
}

export function decodedLogs(bytes: Uint8Array): readonly DecodedLog[] {
  const request = decodedLogsRequest(bytes) as {
    resourceLogs: { scopeLogs: { logRecords: DecodedLog[] }[] }[];
  };
  return request.resourceLogs.flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords));
}

export function decodedSpans(bytes: Uint8Array): readonly DecodedSpan[] {
  const request = decodedTraceRequest(bytes) as {
    resourceSpans: { scopeSpans: { spans: DecodedSpan[] }[] }[];
  };
  return request.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}
