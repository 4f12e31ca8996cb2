import type { explanationOf } from '../../src/edge/explain.ts';

export type Steps = ReturnType<typeof explanationOf>['steps'];

/** What can be compared: tunnels are called after their agents, and times, addresses and reused connections differ. */
export function comparable(
  got: { readonly status: number; readonly headers: readonly string[]; readonly body: string },
  event: unknown,
  steps: Steps,
  names: ReadonlyMap<string, string> = new Map(),
) {
  const named = (value: string): string =>
    value
      .split(', ')
      .map((each) => names.get(each) ?? each)
      .join(', ');
  const kept = ['content-type', 'x-from', 'service-error-code', 'cache-control'];
  const {
    http,
    backend: _reused,
    conn: _conn,
    tls: _tls,
    ...rest
  } = event as Record<string, Record<string, never>>;
  const { response, request: asked } = http as unknown as Record<string, Record<string, unknown>>;
  return {
    status: got.status,
    headers: kept.map((name) => {
      const at = got.headers.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
      return at < 0 ? null : got.headers[at + 1];
    }),
    body: got.body,
    event: {
      ...rest,
      response: [response!['status_code'], response!['body_length']],
      request: [
        asked!['method'],
        asked!['body_length'],
        asked!['url'] && (asked!['url'] as { path: string }).path,
      ],
    },
    steps: steps.map(({ code, verdict, detail: { detail: _system, ...detail } }) => [
      code,
      verdict,
      Object.fromEntries(
        Object.entries(detail).map(([key, value]) => [key, typeof value === 'string' ? named(value) : value]),
      ),
    ]),
  };
}
