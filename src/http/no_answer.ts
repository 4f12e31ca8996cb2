/**
 * Not found at the moment, too slow, too early, too many requests: none of these says anything about the
 * user.
 */
const NO_ANSWER: ReadonlySet<number> = new Set([404, 408, 425, 429]);

/**
 * Whether a status only means that an API is unavailable, and says nothing about the user or token in the
 * request. Some APIs respond with 403 when a client sends too many requests; `field` returns a response
 * field.
 */
export function isNoAnswer(status: number, field: (name: string) => string | null | undefined): boolean {
  if (status >= 500 || NO_ANSWER.has(status)) return true;
  return status === 403 && (Boolean(field('retry-after')) || field('x-ratelimit-remaining')?.trim() === '0');
}
