const MAXIMUM_AGE_SECONDS = 600;

interface CorsAnswer {
  /** The complete response to a preflight request. */
  readonly preflight: Response | null;
  /** Fields for the response to the actual request. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

/** CORS fields: all origins are allowed, because every request needs a key. */
export function cors(request: Request, methods: () => readonly string[]): CorsAnswer {
  const origin = request.headers.get('origin');
  if (origin === null) return { preflight: null, fields: [] };
  const fields = [
    ['access-control-allow-origin', origin],
    ['access-control-allow-credentials', 'true'],
    ['vary', 'Origin'],
  ] as const;
  if (request.method !== 'OPTIONS' || !request.headers.has('access-control-request-method')) {
    return { preflight: null, fields };
  }
  const headers = new Headers(fields.map(([name, value]): [string, string] => [name, value]));
  headers.set('access-control-allow-methods', methods().join(', '));
  headers.set('access-control-allow-headers', request.headers.get('access-control-request-headers') ?? '');
  headers.set('access-control-max-age', String(MAXIMUM_AGE_SECONDS));
  return { preflight: new Response(null, { status: 204, headers }), fields };
}
