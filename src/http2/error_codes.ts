import { constants } from 'node:http2';

/** The name of a stream error code. */
export function codeName(code: number | undefined): string {
  const names = Object.entries(constants) as [string, unknown][];
  const found = names.find(([name, value]) => value === code && CODES.has(name));
  return found === undefined ? String(code) : found[0].replace('NGHTTP2_', '');
}

/** RFC 9113 §7. */
const CODES: ReadonlySet<string> = new Set(
  [
    'NO_ERROR',
    'PROTOCOL_ERROR',
    'INTERNAL_ERROR',
    'FLOW_CONTROL_ERROR',
    'SETTINGS_TIMEOUT',
    'STREAM_CLOSED',
    'FRAME_SIZE_ERROR',
    'REFUSED_STREAM',
    'CANCEL',
    'COMPRESSION_ERROR',
    'CONNECT_ERROR',
    'ENHANCE_YOUR_CALM',
    'INADEQUATE_SECURITY',
    'HTTP_1_1_REQUIRED',
  ].map((name) => `NGHTTP2_${name}`),
);
