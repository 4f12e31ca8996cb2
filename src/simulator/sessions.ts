import type { Connection } from '../engine/contract.ts';
import { headOf } from '../engine/request_like.ts';
import { type FieldList, allValues, withoutField } from '../http/fields.ts';
import type { SimulatedIdentities } from '../development_idp/simulated.ts';
import type { Flight } from './flight.ts';
import type { PreparedRequest } from './prepared_request.ts';

/** Cookies of an identity's browser, by host and name. Domain and path do not matter to it: gates bind to hosts. */
type Jar = Map<string, string>;

/** Browsers of the identities of one simulated world: they keep cookies, and follow a gate to its provider and back. */
export interface SimulatedBrowsers {
  /** Sends a request as somebody; `done` is given the flight that the person sees in the end. */
  readonly visit: (identity: string, request: PreparedRequest, done: (flight: Flight) => void) => Flight;
}

type Send = (request: PreparedRequest, done: (flight: Flight) => void) => Flight;

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
      const go = (request: PreparedRequest): Flight =>
        send(withCookies(request, jar), (flight) => {
          keepCookies(jar, hostOf(request), flight.response.headers);
          const next = hops++ < HOPS_LIMIT ? nextOf(flight, request) : null;
          if (next === null) done(flight);
          else go(next);
        });
      /** Only the way through a login is followed; any other redirect is what the person sees. */
      const nextOf = (flight: Flight, request: PreparedRequest): PreparedRequest | null => {
        const { reason, provider } = loginReasonOf(flight);
        const location = allValues(flight.response.headers, 'location')[0];
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

/** How the names of SAML providers begin; their entity id follows. */
const SAML = 'saml ';

const REASON = /^(?:oauth|oidc|saml|openid_connect)\.(login_started|logged_in)$/;

/** What a gate, of a route or in a policy, has come to in this exchange, and its provider. */
function loginReasonOf({ exchange }: Flight): { readonly reason: string | null; readonly provider: string } {
  for (const verdict of exchange.verdicts) {
    if (verdict === undefined) continue;
    for (const { code, detail } of [verdict.because, ...(verdict.inner ?? [])]) {
      const reason = REASON.exec(code)?.[1];
      if (reason !== undefined) return { reason, provider: String(detail['provider'] ?? '') };
    }
  }
  return { reason: null, provider: '' };
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

function requestFor(url: string, connection: Connection, form?: string): PreparedRequest {
  const isForm = form !== undefined;
  const headers = {
    accept: 'text/html',
    ...(isForm && { 'content-type': 'application/x-www-form-urlencoded' }),
  };
  const head = headOf({ url, headers, method: isForm ? 'POST' : 'GET' });
  return { head, connection, body: new TextEncoder().encode(form ?? ''), leaveAfterMs: -1 };
}
