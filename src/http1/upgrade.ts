import { hasField } from '../http/fields.ts';
import { upgradeOf } from '../http/forwarding.ts';
import type { WireRequest } from './request_head.ts';

/** Whether a request that asks for another protocol may have it; otherwise it is served as any other. */
export function mayUpgrade(head: WireRequest): boolean {
  if (!head.asksUpgrade || head.method !== 'GET' || head.version !== '1.1' || head.lengthBytes !== 0)
    return false;
  const protocol = upgradeOf(head.headers);
  return (
    protocol !== null &&
    !hasField(head.headers, 'expect') &&
    // Another HTTP is not asked of the upstream, and TLS is not to be had inside (RFC 9110 §7.8 lets us decline).
    !/^(?:h2c|http|tls)\b|,/.test(protocol)
  );
}
