import { hasField } from '../http/fields.ts';
import { upgradeOf } from '../http/forwarding.ts';
import type { WireRequest } from './request_head.ts';

/** Whether an upgrade request may be granted; otherwise it is served as a normal request. */
export function mayUpgrade(head: WireRequest): boolean {
  if (!head.asksUpgrade || head.method !== 'GET' || head.version !== '1.1' || head.lengthBytes !== 0)
    return false;
  const protocol = upgradeOf(head.headers);
  return (
    protocol !== null &&
    !hasField(head.headers, 'expect') &&
    // Another HTTP version cannot be asked of the upstream, and TLS is not offered inside a connection (RFC
    // 9110 §7.8 allows servers to decline).
    !/^(?:h2c|http|tls)\b|,/.test(protocol)
  );
}
