/** Whether a response of this status never has content: 1xx, 204, 205, 304 (RFC 9110 §15.2, §15.3.5, §15.3.6, §15.4.5). */
export function isBodylessStatus(status: number): boolean {
  return status < 200 || status === 204 || status === 205 || status === 304;
}

/** Whether the response to a request of this method has no content. */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || isBodylessStatus(status);
}

/**
 * Whether a response that arrives ends with its head, whatever its fields declare (RFC 9112 §6.3). A 205 does not: a
 * sender that gives it content against the rules still frames it, so the content must be read.
 */
export function endsAtHead(isToHead: boolean, status: number): boolean {
  return isToHead || (isBodylessStatus(status) && status !== 205);
}

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
