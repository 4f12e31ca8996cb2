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
