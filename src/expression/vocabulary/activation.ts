import { NO_FIELDS, type FieldList, firstValue } from '../../http/fields.ts';
import { parseAddress } from '../../net/address.ts';
import { formatTimestamp } from '../time.ts';
import { type StringMap, type Value, headerFields, stringMap } from '../values.ts';
import type { ActionResult, ActionResults } from './action_results.ts';
import { IpValue } from './addresses.ts';
import { timestampOfMs } from './certificates.ts';
import { requestCookies, responseCookies } from './cookies.ts';
import { headerMapOf } from './header_maps.ts';
import type { ConnectionInput, RequestInput, ResponseInput, Surroundings, WorldInput } from './inputs.ts';
import { MediaType } from './media_types.ts';
import { type UrlValue, urlOfRequest } from './urls.ts';
import { UserAgentValue } from './user_agent_value.ts';

const NO_REQUEST: RequestInput = {
  method: '',
  scheme: 'http',
  host: '',
  authority: '',
  path: '',
  query: undefined,
  sentTarget: '/',
  version: '1.1',
  headers: NO_FIELDS,
};
const NO_RESPONSE: ResponseInput = { status: 0, headers: NO_FIELDS };
const NO_VARS: StringMap = Object.freeze(stringMap());
const NO_RESULTS: ActionResults = Object.freeze({});

/**
 * What expressions see of one exchange. One class serves all phases, so that the reads of variables stay
 * monomorphic; the phase's scope decides which of its members a policy may name. Making one is a handful of
 * stores: whatever must be parsed is parsed when an expression first asks, and kept.
 */
export class Activation {
  readonly world: WorldInput;
  readonly surroundings: Surroundings;
  readonly connection: ConnectionInput;
  request: RequestInput;
  response: ResponseInput;
  /** What `set-vars` has set in this phase. */
  vars: StringMap = NO_VARS;
  results: ActionResults = NO_RESULTS;
  /** In a retry condition: the number of attempts so far, and the last of them. */
  attempts = 0;
  lastAttempt: ActionResult | undefined = undefined;

  #clientIp: IpValue | undefined;
  #serverIp: IpValue | undefined;
  #url: UrlValue | undefined;
  #userAgent: UserAgentValue | undefined;
  #requestHeaders: StringMap | undefined;
  #requestCookies: StringMap | undefined;
  #requestMedia: MediaType | undefined;
  #responseHeaders: StringMap | undefined;
  #responseCookies: StringMap | undefined;
  #responseMedia: MediaType | undefined;

  constructor(
    world: WorldInput,
    surroundings: Surroundings,
    connection: ConnectionInput,
    request: RequestInput = NO_REQUEST,
    response: ResponseInput = NO_RESPONSE,
  ) {
    this.world = world;
    this.surroundings = surroundings;
    this.connection = connection;
    this.request = request;
    this.response = response;
  }

  /** Begins the next phase: variables are those of a phase, results of actions stay. */
  enterPhase(response: ResponseInput = this.response): void {
    this.vars = NO_VARS;
    this.changeResponse(response);
  }

  /** After an edit: expressions from here on see this request. */
  changeRequest(request: RequestInput): void {
    if (request === this.request) return;
    this.request = request;
    this.#url = undefined;
    this.#userAgent = undefined;
    this.#requestHeaders = undefined;
    this.#requestCookies = undefined;
    this.#requestMedia = undefined;
  }

  changeResponse(response: ResponseInput): void {
    if (response === this.response) return;
    this.response = response;
    this.#responseHeaders = undefined;
    this.#responseCookies = undefined;
    this.#responseMedia = undefined;
  }

  /** Sets one variable; maps are values and never change, so the others are copied. */
  setVar(name: string, value: Value): void {
    const vars = stringMap();
    for (const key of Object.keys(this.vars)) vars[key] = this.vars[key]!;
    vars[name] = value;
    this.vars = vars;
  }

  /** Keeps the result of an action under its name (`rate_limit`), in place of an earlier one. */
  setResult(name: string, result: ActionResult): void {
    this.results = { ...this.results, [name]: result };
  }

  get clientIp(): IpValue {
    const { client } = this.connection;
    return (this.#clientIp ??= new IpValue(client.text, client, this.surroundings.facts.client));
  }

  get serverIp(): IpValue {
    const { serverIp } = this.connection;
    return (this.#serverIp ??= new IpValue(serverIp, parseAddress(serverIp), this.surroundings.facts.server));
  }

  get url(): UrlValue {
    return (this.#url ??= urlOfRequest(this.request));
  }

  get userAgent(): UserAgentValue {
    return (this.#userAgent ??= new UserAgentValue(this.requestField('user-agent')));
  }

  /** First value of a request field (a lower-case name), empty when there is none. */
  requestField(lower: string): string {
    return firstValue(this.request.headers, lower) ?? '';
  }

  responseField(lower: string): string {
    return firstValue(this.response.headers, lower) ?? '';
  }

  get requestHeaders(): StringMap {
    return (this.#requestHeaders ??= headerMapOf(this.request.headers));
  }

  get requestCookies(): StringMap {
    return (this.#requestCookies ??= requestCookies(this.request.headers));
  }

  get requestMedia(): MediaType {
    return (this.#requestMedia ??= new MediaType(this.requestField('content-type')));
  }

  get responseHeaders(): StringMap {
    return (this.#responseHeaders ??= headerMapOf(this.response.headers));
  }

  get responseCookies(): StringMap {
    return (this.#responseCookies ??= responseCookies(this.response.headers));
  }

  get responseMedia(): MediaType {
    return (this.#responseMedia ??= new MediaType(this.responseField('content-type')));
  }

  /** The time as RFC 3339 text. */
  get now(): string {
    return formatTimestamp(timestampOfMs(this.world.nowMs()));
  }
}

const NO_TRAILERS: StringMap = Object.freeze(headerFields());

export function trailerMap(trailers: FieldList | undefined): StringMap {
  return trailers === undefined || trailers.length === 0 ? NO_TRAILERS : headerMapOf(trailers);
}

/** `Content-Length` as a number; undefined when it is absent or no number (RFC 9110 §8.6). */
export function contentLength(fields: FieldList): number | undefined {
  const text = firstValue(fields, 'content-length')?.trim();
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const length = Number(text);
  return Number.isSafeInteger(length) ? length : undefined;
}
