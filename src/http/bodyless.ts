/** Whether a response of this status never has content: 1xx, 204, 205, 304 (RFC 9110 §15.2, §15.3.5, §15.3.6, §15.4.5). */
export function isBodylessStatus(status: number): boolean {
  return status < 200 || status === 204 || status === 205 || status === 304;
}

/** Whether the response to a request of this method has no content. */
export function isBodyless(method: string, status: number): boolean {
  return method === 'HEAD' || isBodylessStatus(status);
}

/**
 * Whether a received response ends with its head, whatever its fields declare (RFC 9112 §6.3). A 205 does
 * not: if a sender adds content against the rules, the content is framed and must be read.
 */
export function endsAtHead(isToHead: boolean, status: number): boolean {
  return isToHead || (isBodylessStatus(status) && status !== 205);
}

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
