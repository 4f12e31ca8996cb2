import { FORM_LIMIT_BYTES } from '../limits.ts';
import {
  ask,
  type Handler,
  type RequestHead,
  type Stop,
  type Verdict,
  type World,
  type Ask,
} from '../../engine/contract.ts';
import type { LocalResponse } from '../../engine/questions.ts';
import type { Linked } from '../../engine/module.ts';
import { concluded, readForm } from '../conversation.ts';
import { type LoginMemory, loginMemory } from '../memory.ts';
import { page, redirectTo } from '../pages.ts';
import type { Answered, LoginContext } from '../provider.ts';
import { SAML_PATHS, identityHost } from './addresses.ts';
import { inResponseToOf } from './validate_response.ts';
import { samlProvider } from './provider.ts';
import { originOfRequest } from './settings.ts';
import { type LoginLinks, linkedLogin } from '../module_gate.ts';
import { samlSettings } from './module_compile.ts';
import type { SamlConfig } from './module_schema.ts';

/** Endpoints of a route, as needed on the service host. */
export interface Endpoints {
  /**
   * Whether an origin belongs to the route: one of its hosts, with the scheme of the response and a port of the
   * edge. The user who starts a login chooses scheme and port of its origin, and another port of a host may belong
   * to another program, which must not receive the responses of users.
   */
  readonly isOwn: (origin: string, response: Pick<RequestHead, 'scheme' | 'authority'>) => boolean;
  /** Default origin for responses that name no origin; null if the route has only wildcard hosts. */
  readonly standard: string | null;
}

const TEMPORARY_REDIRECT = 307;

/**
 * Serves a route's SAML addresses on the service host, which the management API shows and identity providers
 * know. It serves the metadata, handles logout messages, and forwards login responses to the endpoint of the
 * pending login, where the browser has its cookies. Responses are not trusted here; they only select the
 * target among the route's endpoints.
 */
export function samlHostHandler(
  config: SamlConfig,
  linked: Linked & LoginLinks,
  prefix: string,
  endpoints: Endpoints,
): Handler<LoginMemory> {
  const login = linkedLogin(linked);
  const { service } = linked.branding;
  const provider = samlProvider(samlSettings(config, service, login));
  const contextOf = (request: RequestHead, memory: LoginMemory, world: World): LoginContext => {
    const origin = `https://${identityHost(service)}`;
    const site = { origin, base: `${prefix}/`, callbackUrl: `${origin}${prefix}/acs` };
    return { site, request, memory, registry: login.registry, world };
  };
  const answer = (path: string, context: LoginContext): Verdict | Ask => {
    const other = provider.other!(path, context);
    if (other === null) return notFound();
    return concluded(other, answerStop);
  };
  const sendOn = (fields: URLSearchParams | null, request: RequestHead): Verdict => {
    const origin = fields === null ? null : originFor(fields, endpoints, request);
    if (origin === null) return stop('saml.callback_refused', { reason: 'no_endpoint' }, refusal());
    const location = `${origin}${login.base}${SAML_PATHS.acs}`;
    return stop('saml.answered', { to: origin }, { ...redirectTo(location), status: TEMPORARY_REDIRECT });
  };
  return {
    initial: loginMemory,
    onRequest: (request, _connection, memory, world) => {
      const context = contextOf(request, memory, world);
      switch (request.path.slice(prefix.length)) {
        case '':
        case '/':
          return answer(SAML_PATHS.metadata, context);
        case '/acs':
          if (request.method !== 'POST') return notFound();
          return ask({ ask: 'body', limitBytes: FORM_LIMIT_BYTES }, (body) =>
            sendOn('bytes' in body ? readForm(body.bytes) : null, request),
          );
        case '/slo':
          return answer(SAML_PATHS.slo, context);
        case '/signed_out':
          return stop('saml.logged_out', { step: 'page' }, signedOut());
        default:
          return notFound();
      }
    },
  };
}

/** The origin that expects a response: that of its request, or that of RelayState. */
function originFor(
  fields: URLSearchParams,
  { isOwn, standard }: Endpoints,
  request: RequestHead,
): string | null {
  const answers = inResponseToOf(fields.get('SAMLResponse') ?? '');
  const named = answers === null ? originOfRelay(fields.get('RelayState')) : originOfRequest(answers);
  if (named !== null && isOwn(named, request)) return named;
  return answers === null ? standard : null;
}

function originOfRelay(relayed: string | null): string | null {
  return /^https?:\/\/[^/?#@\\\s]+/.exec(relayed ?? '')?.[0] ?? null;
}

function answerStop({ reason, detail, response }: Answered): Stop {
  return stop(`saml.${reason}`, detail, response);
}

function notFound(): Stop {
  return stop('saml.no_such_path', {}, page(404, 'Not found', 'This address does not exist.'));
}

function refusal(): LocalResponse {
  const message = 'This response of an identity provider matches no endpoint of this service.';
  return page(400, 'The login cannot be completed', message, { code: 'saml.callback_refused' });
}

function signedOut(): LocalResponse {
  return page(200, 'Logged out', 'You are logged out.');
}

function stop(code: string, detail: Stop['reason']['detail'], response: LocalResponse): Stop {
  return { verdict: 'stop', reason: { code, detail }, response };
}
