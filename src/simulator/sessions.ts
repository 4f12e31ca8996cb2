import type { Exchange } from '../engine/exchange.ts';
import type { Verdict } from '../engine/contract.ts';
import { type StatedConnection, headOf } from '../engine/request_like.ts';
import { type FieldList, allValues, withoutField } from '../http/fields.ts';
import type { SimulatedIdentities } from '../dev_idp/simulated.ts';
import type { SimulatedRequest } from './simulated_request.ts';
import type { PreparedRequest } from './prepared_request.ts';

/** Cookies of an identity's browser, by host and name. Domain and path are ignored, because gates bind to hosts. */
type Jar = Map<string, string>;

/**
 * Browsers of the identities of one simulated world: they keep cookies, and follow a login to its provider and
 * back.
 */
export interface SimulatedBrowsers {
  /** Sends a request as an identity; `done` receives the final exchange that the user sees. */
  readonly visit: (
    identity: string,
    request: PreparedRequest,
    done: (simulated: SimulatedRequest) => void,
  ) => SimulatedRequest;
}

type Send = (request: PreparedRequest, done: (simulated: SimulatedRequest) => void) => SimulatedRequest;

/** More than a login needs: to the gate, to the provider and back, to the gate again. */
const HOPS_LIMIT = 8;

export function simulatedBrowsers(providers: SimulatedIdentities, send: Send): SimulatedBrowsers {
  const jars = new Map<string, Jar>();
  const jarOf = (identity: string): Jar => {
    let jar = jars.get(identity);
    if (jar === undefined) jars.set(identity, (jar = new Map()));
    return jar;
  };
  return {
    visit: (identity, wanted, done) => {
      const jar = jarOf(identity);
      let hops = 0;
      const go = (request: PreparedRequest): SimulatedRequest =>
        send(withCookies(request, jar), (simulated) => {
          keepCookies(jar, hostOf(request), simulated.response.headers);
          const next = hops++ < HOPS_LIMIT ? nextOf(simulated, request) : null;
          if (next === null) done(simulated);
          else go(next);
        });
      /** Only login redirects are followed; any other redirect is the result. */
      const nextOf = (simulated: SimulatedRequest, request: PreparedRequest): PreparedRequest | null => {
        const { reason, provider } = loginReasonOf(simulated);
        const location = allValues(simulated.response.headers, 'location')[0];
        if (reason === null || location === undefined) return null;
        if (reason === 'logged_in') return wanted;
        if (reason !== 'login_started') return null;
        if (provider.startsWith(SAML)) {
          const form = providers.approveSaml(location, identity, provider.slice(SAML.length));
          return form === null ? null : requestFor(form.url, request.connection, form.body);
        }
        const callback = providers.approve(location, identity);
        return callback === null ? null : requestFor(callback, request.connection);
      };
      return go(wanted);
    },
  };
}

/** Prefix of the names of SAML providers; their entity id follows. */
const SAML = 'saml ';

const REASON = /^(?:oauth|oidc|saml|openid_connect)\.(login_started|logged_in)$/;

/** The login result of this request, of a gate or of a policy action, and its provider. */
function loginReasonOf({ exchange }: SimulatedRequest): {
  readonly reason: string | null;
  readonly provider: string;
} {
  for (const { code, detail } of loginStepsOf(exchange)) {
    const reason = REASON.exec(code)?.[1];
    if (reason !== undefined) return { reason, provider: String(detail['provider'] ?? '') };
  }
  return { reason: null, provider: '' };
}

/** Also those of the internal edges that the request was forwarded to. */
function loginStepsOf({ verdicts, inside }: Exchange): Pick<Verdict['reason'], 'code' | 'detail'>[] {
  const own = verdicts.flatMap((verdict) =>
    verdict === undefined ? [] : [verdict.reason, ...(verdict.inner ?? [])],
  );
  return inside === null ? own : [...own, ...loginStepsOf(inside)];
}

function hostOf({ head }: PreparedRequest): string {
  return 'refused' in head ? head.head.host : head.host;
}

function withCookies(request: PreparedRequest, jar: Jar): PreparedRequest {
  const { head } = request;
  if ('refused' in head) return request;
  const prefix = `${head.host}\n`;
  const own = [...jar].flatMap(([name, value]) =>
    name.startsWith(prefix) ? [`${name.slice(prefix.length)}=${value}`] : [],
  );
  if (own.length === 0) return request;
  const cookie = [...allValues(head.headers, 'cookie'), ...own].join('; ');
  const headers = [...withoutField(head.headers, 'cookie'), 'cookie', cookie];
  return { ...request, head: { ...head, headers } };
}

function keepCookies(jar: Jar, host: string, headers: FieldList): void {
  for (const line of allValues(headers, 'set-cookie')) {
    const [pair = ''] = line.split(';', 1);
    const equals = pair.indexOf('=');
    const name = `${host}\n${pair.slice(0, equals)}`;
    if (/;\s*max-age=0(?:;|$)/i.test(line)) jar.delete(name);
    else jar.set(name, pair.slice(equals + 1));
  }
}

function requestFor(url: string, connection: StatedConnection, form?: string): PreparedRequest {
  const isForm = form !== undefined;
  const headers = {
    accept: 'text/html',
    ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const head = headOf({ url, headers, method: isForm ? 'POST' : 'GET' });
  return { head, connection, body: new TextEncoder().encode(form ?? ''), leaveAfterMs: -1 };
}
