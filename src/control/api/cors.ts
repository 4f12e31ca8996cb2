import type { ApiAnswer, ArrivedRequest } from './contract.ts';

const MAXIMUM_AGE_SECONDS = '600';

/** CORS fields of an answer: all origins are allowed, because every request needs a key. */
export function corsFields(origin: string): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    vary: 'Origin',
  };
}

/** The answer to a preflight request; null for any other request. */
export function preflightAnswer(
  { method, field }: ArrivedRequest,
  origin: string,
  methods: () => readonly string[],
): ApiAnswer | null {
  if (method !== 'OPTIONS' || field('access-control-request-method') === null) return null;
  const fields = {
    ...corsFields(origin),
    'access-control-allow-methods': methods().join(', '),
    'access-control-allow-headers': field('access-control-request-headers') ?? '',
    'access-control-max-age': MAXIMUM_AGE_SECONDS,
  };
  return { status: 204, fields, text: null };
}
