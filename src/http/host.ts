import { asciiLower } from './ascii.ts';

/** A host from `Host`, `:authority` or a hostport: lower case, without trailing dot. */
export interface Authority {
  readonly host: string;
  readonly port: number | undefined;
}

const NAME = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/;
const BRACKETED = /^\[[0-9a-f:.]+\]$/;
const PORT = /^[0-9]{1,5}$/;

/** Maximum length of a host name, RFC 1035 §2.3.4. */
const HOST_LIMIT_BYTES = 253;

/** There are few hosts and many lookups, so parsed ones are cached, up to this number. */
const CACHED_TEXTS = 512;
const known = new Map<string, Authority>();

/**
 * Parses `host`, `host:port` or `[v6]:port` strictly (RFC 9110 §7.2); null for anything else, including user
 * info.
 */
export function parseAuthority(text: string): Authority | null {
  const before = known.get(text);
  if (before !== undefined) return before;
  const authority = readAuthority(text);
  if (authority === null || text.length > HOST_LIMIT_BYTES) return authority;
  if (known.size >= CACHED_TEXTS) known.clear();
  known.set(text, authority);
  return authority;
}

function readAuthority(text: string): Authority | null {
  const lower = asciiLower(text);
  const colon = lower.startsWith('[') ? lower.indexOf(':', lower.indexOf(']')) : lower.indexOf(':');
  let name = colon < 0 ? lower : lower.slice(0, colon);
  let port: number | undefined;
  if (colon >= 0) {
    const digits = lower.slice(colon + 1);
    if (!PORT.test(digits)) return null;
    port = Number(digits);
    if (port > 65_535) return null;
  }
  if (name.endsWith('.')) name = name.slice(0, -1);
  if (name.length > HOST_LIMIT_BYTES) return null;
  return NAME.test(name) || BRACKETED.test(name) ? { host: name, port } : null;
}
