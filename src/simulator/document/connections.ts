import type { EdgeConfig } from '../../edge/document/schema.ts';
import { isHostProblem, readHostAndPort } from '../../edge/document/hosts.ts';
import { tlsVersionName } from '../../engine/connection.ts';
import { type StatedConnection, statedConnection } from '../../engine/request_like.ts';
import type { RequestSetting } from './requests.ts';
import type { CaseConfig } from './schema.ts';
import { errorText } from '../../diagnostics/message_text.ts';

/** A prepared connection to a TLS or TCP edge. */
export interface PreparedConnection {
  readonly place: { readonly kind: 'tls' | 'tcp'; readonly host: string; readonly port: number };
  readonly connection: StatedConnection;
  /** Bytes sent in each direction if a backend accepts it. */
  readonly sendsBytes: number;
  readonly receivesBytes: number;
}

type ConnectConfig = Exclude<NonNullable<CaseConfig['connect']>, string>;

const FORM = /^(?:(tls|tcp):\/\/)?(.+)$/;
const EXAMPLE_PORT = 5432;

/** Reads `connect`; null if it is invalid, which is reported. */
export function prepareConnection(
  given: NonNullable<CaseConfig['connect']>,
  pointer: string,
  edge: EdgeConfig,
  { tls, report }: RequestSetting,
): PreparedConnection | null {
  const config: ConnectConfig = typeof given === 'string' ? { to: given } : given;
  const at = typeof given === 'string' ? pointer : `${pointer}/to`;
  const [, scheme, rest] = FORM.exec(config.to)!;
  const place = readHostAndPort(rest!, EXAMPLE_PORT);
  if (isHostProblem(place)) {
    report('scenario.bad_request', at, place.message);
    return null;
  }
  const kind = (scheme as 'tls' | 'tcp' | undefined) ?? kindOf(edge, place);
  const serverName = config.server_name ?? place.host;
  // TLS edges negotiate no protocol.
  const version = tlsVersionName(config.tls_version ?? '1.3');
  const shaken = { ...tls, version, negotiatedAlpn: '' };
  try {
    const facts = {
      ...(config.ip !== undefined && { clientIp: config.ip }),
      serverPort: place.port,
      serverName: kind === 'tls' ? serverName : place.host,
      ...(kind === 'tls' && { tls: shaken }),
    };
    return {
      place: { kind, host: kind === 'tls' ? serverName : place.host, port: place.port },
      connection: statedConnection(facts, 'https'),
      sendsBytes: config.sends ?? 0,
      receivesBytes: config.receives ?? 0,
    };
  } catch (error) {
    report('scenario.bad_request', `${pointer}/ip`, errorText(error));
    return null;
  }
}

/** A hostport of a TCP edge gives TCP; anything else is TLS, found by server name. */
function kindOf(
  { edges }: EdgeConfig,
  { host, port }: { readonly host: string; readonly port: number },
): 'tls' | 'tcp' {
  const isTcp = Object.values(edges.tcp).some(({ hostports }) => hostports.includes(`${host}:${port}`));
  return isTcp ? 'tcp' : 'tls';
}
