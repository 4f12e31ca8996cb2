/** Not there at this moment, too slow, too early, too many requests: none of them is about what was asked. */
const NO_ANSWER: ReadonlySet<number> = new Set([404, 408, 425, 429]);

/**
 * Whether a status says only that an API does not answer now, and nothing about the user or the token that was asked
 * about. Some APIs refuse with 403 when a client asks too often; `field` gives the value of a response field.
 */
export function isNoAnswer(status: number, field: (name: string) => string | null | undefined): boolean {
  if (status >= 500 || NO_ANSWER.has(status)) return true;
  return status === 403 && (Boolean(field('retry-after')) || field('x-ratelimit-remaining')?.trim() === '0');
}
