/** Messages of OTLP as their JSON (OTLP 1.x, "JSON Protobuf Encoding"): ids in hexadecimal, 64-bit numbers as texts. */

interface AnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string;
  readonly doubleValue?: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState?: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number; readonly message?: string };
  readonly flags: number;
}

export interface LogRecord {
  readonly timeUnixNano: string;
  readonly observedTimeUnixNano: string;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: AnyValue;
  readonly attributes: readonly KeyValue[];
  readonly eventName: string;
  readonly traceId?: string;
  readonly spanId?: string;
  readonly flags?: number;
}

interface Resource {
  readonly attributes: readonly KeyValue[];
}

const SCOPE = { name: 'edgeproof.events' };
/** The conventions that the attributes follow: those of HTTP are stable since 1.23.0. */
const SCHEMA_URL = 'https://opentelemetry.io/schemas/1.30.0';

export function traceRequest(resource: Resource, spans: readonly Span[]): object {
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: SCOPE, spans }], schemaUrl: SCHEMA_URL }] };
}

export function logsRequest(resource: Resource, logRecords: readonly LogRecord[]): object {
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: SCOPE, logRecords }], schemaUrl: SCHEMA_URL }] };
}

/** Attributes of values; undefined ones and empty texts are left out. */
export function attributesOf(
  values: Readonly<Record<string, string | number | boolean | undefined>>,
): readonly KeyValue[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}
