import { NO_FIELDS, type FieldList, firstValue } from '../../http/fields.ts';
import { spellings } from '../../http/readings.ts';
import { parseAddress } from '../../net/address.ts';
import { variable } from '../../cel/scope.ts';
import { formatTimestamp } from '../../cel/time.ts';
import type { Type } from '../../cel/types.ts';
import { type StringMap, type Value, headerFields, stringMap } from '../../cel/values.ts';
import { IpValue } from './addresses.ts';
import { timestampOfMs } from './certificates.ts';
import { requestCookies, responseCookies } from './cookies.ts';
import { headerMapOf } from './header_maps.ts';
import type { ConnectionInput, RequestInput, ResponseInput, Surroundings, WorldInput } from './inputs.ts';
import { MediaType } from './media_types.ts';
import { type UrlValue, urlOfRequest } from './urls.ts';
import { UserAgentValue } from './user_agent_value.ts';
import type { ClientCertificateFacts } from '../../crypto/certificate_facts.ts';

/** The result of an action: its declared members, each a run-time value or another record. */
export type ActionResult = Readonly<Record<string, Value | ClientCertificateFacts | undefined>>;
/** Results by name. Only the last execution of each action type is kept. */
export type ActionResults = Readonly<Record<string, ActionResult | undefined>>;

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
 * The view that expressions have of one exchange. One class serves all phases, so that variable reads stay
 * monomorphic; the phase's scope defines which members a policy can use. Construction is cheap: values are
 * parsed when an expression first reads them, and cached.
 */
export class Activation {
  readonly world: WorldInput;
  readonly surroundings: Surroundings;
  readonly connection: ConnectionInput;
  request: RequestInput;
  response: ResponseInput;
  /** Variables set by `set-vars` in this phase. */
  vars: StringMap = NO_VARS;
  results: ActionResults = NO_RESULTS;
  /** Units that expressions may still use; unlimited outside of an exchange. */
  unitsLeft = Number.POSITIVE_INFINITY;
  /** In a retry condition: the number of attempts so far, and the last one. */
  attempts = 0;
  lastAttempt: ActionResult | undefined = undefined;

  #clientIp: IpValue | undefined;
  #serverIp: IpValue | undefined;
  #url: UrlValue | undefined;
  #userAgent: UserAgentValue | undefined;
  #requestHeaders: StringMap | undefined;
  #requestCookies: StringMap | undefined;
  #requestMedia: MediaType | undefined;
  #spellings: readonly string[] | null | undefined;
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

  /** Begins the next phase: variables are cleared, results of actions are kept. */
  enterPhase(response: ResponseInput = this.response): void {
    this.vars = NO_VARS;
    this.changeResponse(response);
  }

  /** After an edit: later expressions see this request. */
  changeRequest(request: RequestInput): void {
    if (request === this.request) return;
    this.request = request;
    this.#url = undefined;
    this.#userAgent = undefined;
    this.#requestHeaders = undefined;
    this.#requestCookies = undefined;
    this.#requestMedia = undefined;
    this.#spellings = undefined;
  }

  /** The paths that an upstream may take the request's path for; null if that is only the path itself. */
  get spellings(): readonly string[] | null {
    if (this.#spellings === undefined) this.#spellings = spellings(this.request);
    return this.#spellings;
  }

  changeResponse(response: ResponseInput): void {
    if (response === this.response) return;
    this.response = response;
    this.#responseHeaders = undefined;
    this.#responseCookies = undefined;
    this.#responseMedia = undefined;
  }

  /** Sets one variable; maps are immutable values, so the others are copied. */
  setVar(name: string, value: Value): void {
    const vars = stringMap();
    for (const key of Object.keys(this.vars)) vars[key] = this.vars[key]!;
    vars[name] = value;
    this.vars = vars;
  }

  /** Stores the result of an action under its name (`rate_limit`), replacing an earlier one. */
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

  /** First value of a request field (a lower-case name); empty if absent. */
  requestField(lower: string): string {
    return firstValue(this.request.headers, lower) ?? '';
  }

  responseField(lower: string): string {
    return firstValue(this.response.headers, lower) ?? '';
  }

  /** Fields of the request as expressions may see them: they can copy them anywhere, so sessions of gates are hidden. */
  get shownFields(): FieldList {
    const { cookies } = this.surroundings;
    return cookies === undefined ? this.request.headers : cookies.hidden(this.request.headers);
  }

  get requestHeaders(): StringMap {
    return (this.#requestHeaders ??= headerMapOf(this.shownFields));
  }

  get requestCookies(): StringMap {
    return (this.#requestCookies ??= requestCookies(this.shownFields));
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

  /** The time in RFC 3339 format. */
  get now(): string {
    return formatTimestamp(timestampOfMs(this.world.nowMs()));
  }
}

const NO_TRAILERS: StringMap = Object.freeze(headerFields());

export function trailerMap(trailers: FieldList | undefined): StringMap {
  return trailers === undefined || trailers.length === 0 ? NO_TRAILERS : headerMapOf(trailers);
}

/** `Content-Length` as a number; undefined if it is absent or invalid (RFC 9110 §8.6). */
export function contentLength(fields: FieldList): number | undefined {
  const text = firstValue(fields, 'content-length')?.trim();
  if (text === undefined || !/^\d{1,16}$/.test(text)) return undefined;
  const length = Number(text);
  return Number.isSafeInteger(length) ? length : undefined;
}

const variableWith =
  (more: { readonly optional?: true; readonly oftenAbsent?: true }) =>
  (name: string, type: Type, doc: string, read: (of: Activation) => Value | undefined) =>
    variable(name, type, doc, { read, ...more });

/** Makes variables that are read from the activation. */
export const variables = {
  present: variableWith({}),
  optional: variableWith({ optional: true }),
  oftenAbsent: variableWith({ optional: true, oftenAbsent: true }),
};
