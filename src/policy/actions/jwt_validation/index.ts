import { EvalError, type Value } from '../../../expression/values.ts';
import { valueOfPlain } from '../../../expression/vocabulary/json.ts';
import {
  type Requirements,
  type Token,
  claimsProblem,
  headerProblem,
  isTokenProblem,
  readToken,
} from '../../../mechanisms/jwt.ts';
import type { ActionKind, ActionOutcome, Compiling } from '../../action.ts';
import { stepsOf, waitFor } from '../../action.ts';
import { textsOf } from '../../evaluators.ts';
import { FAILURES, Failure } from '../../failure.ts';
import { type Walk, keepResult } from '../../walk.ts';
import type { KeyCache } from './key_sources.ts';
import { type Fault, JWT_SAYS, refusals } from './refusals.ts';
import type { JwtValidationConfig } from './schema.ts';
import {
  type FoundToken,
  type Place,
  TOKEN_BODY_LIMIT_BYTES,
  bodyFields,
  compilePlaces,
  findToken,
  hasTokenBody,
} from './tokens.ts';
import { type Signed, beginJob, verifySignatures } from './signatures.ts';

/** Lets in requests all of whose JSON Web Tokens are valid (RFC 7519). */
export const jwtValidation: ActionKind<'jwt-validation'> = {
  type: 'jwt-validation',
  says: JWT_SAYS,
  compile: ({ type, config }, compiling) => {
    const places = compilePlaces(config.http.tokens, compiling);
    const wantedOf = compileWanted(config, compiling);
    const cache = compiling.cell((): KeyCache => new Map());
    const writtenUrls = new Set(config.jws.keys.sources.additional_jkus.filter((url) => !url.includes('${')));
    const { allowPrivateFetch } = compiling.context;
    const step = stepsOf(type, JWT_SAYS, compiling.pointer);
    const responses = refusals(compiling.context);
    const refuse = (at: number, fault: Fault, says: string): ActionOutcome => ({
      does: 'end',
      as: 'denied',
      step: step(fault, { token: at, problem: says }),
      response: responses[fault],
    });

    const judge = (walk: Walk, fields: ReadonlyMap<string, string | null>): ActionOutcome => {
      const wanted = wantedOf(walk);
      if (wanted instanceof Failure) return wanted;
      const tokens: Signed[] = [];
      for (const [at, place] of places.entries()) {
        const found = findToken(place, walk.activation, fields);
        if (found instanceof Failure) return found;
        if (found.text === null) return refuse(at, 'missing', `there is no token in ${found.name}`);
        const token = readToken(found.text);
        if (isTokenProblem(token)) return refuse(at, token.fault, token.says);
        const required = requiredOf(place, wanted);
        const problem = headerProblem(token, required) ?? claimsProblem(token, required, walk.world.nowMs());
        if (problem !== null) return refuse(at, problem.fault, problem.says);
        tokens.push({ found, token });
      }
      return verifySignatures(walk, beginJob(tokens, wanted.urls), {
        cache: cache.of(walk),
        allowPrivate: (url) => allowPrivateFetch || writtenUrls.has(url),
        accept: () => accept(walk, tokens),
        refuse,
        unreachable: (url) => compiling.failure(FAILURES.action, `the keys at ${url} could not be fetched`),
      });
    };

    const accept = (walk: Walk, tokens: readonly Signed[]): ActionOutcome => {
      const results: Value[] = [];
      for (const { found, token } of tokens) {
        const result = resultOf(found, token);
        if (result instanceof EvalError) return compiling.failure(FAILURES.action, result.says);
        results.push(result);
      }
      keepResult(walk, 'jwt_validation', { tokens: results });
      return { does: 'next', step: step('valid', { tokens: tokens.length }) };
    };

    return {
      run: (walk) => {
        const { request } = walk.activation;
        if (!places.some(({ method }) => method === 'body') || !hasTokenBody(request))
          return judge(walk, new Map());
        if (walk.requestBody !== null) return judge(walk, bodyFields(request.headers, walk.requestBody));
        return waitFor({ ask: 'body', limitBytes: TOKEN_BODY_LIMIT_BYTES }, (answer) =>
          'bytes' in answer
            ? judge(walk, bodyFields(request.headers, answer.bytes))
            : compiling.failure(FAILURES.action, `the body could not be read: ${answer.failure}`),
        );
      },
    };
  },
};

/** Allow-lists and sources, evaluated. */
interface Wanted {
  readonly algorithms: Requirements['algorithms'];
  readonly issuers: readonly string[];
  readonly audiences: readonly string[] | null;
  readonly urls: readonly string[];
}

function compileWanted(
  { issuer, audience, jws }: JwtValidationConfig,
  compiling: Compiling,
): (walk: Walk) => Wanted | Failure {
  const listed = (values: readonly string[], at: (index: number) => string) => {
    const templates = values.map((text, index) => compiling.template(text, at(index)));
    return ({ activation }: Walk) => textsOf(templates, activation);
  };
  const valuesOf = (list: typeof issuer) => list.allow_list.map(({ value }) => value);
  const issuersOf = listed(valuesOf(issuer), (index) => `/issuer/allow_list/${index}/value`);
  const audiencesOf =
    audience === undefined
      ? null
      : listed(valuesOf(audience), (index) => `/audience/allow_list/${index}/value`);
  const urlsOf = listed(
    jws.keys.sources.additional_jkus,
    (index) => `/jws/keys/sources/additional_jkus/${index}`,
  );
  return (walk) => {
    const issuers = issuersOf(walk);
    if (issuers instanceof Failure) return issuers;
    const audiences = audiencesOf === null ? null : audiencesOf(walk);
    if (audiences instanceof Failure) return audiences;
    const urls = urlsOf(walk);
    return urls instanceof Failure ? urls : { algorithms: jws.allowed_algorithms, issuers, audiences, urls };
  };
}

/** Types that are told by `typ` (RFC 9068 §2.1), and types that must say when they expire. */
const TYPED: ReadonlySet<string> = new Set(['at+jwt', 'it+jwt']);
const EXPIRING: ReadonlySet<string> = new Set(['at+jwt', 'it+jwt', 'id_token', 'access_token']);

function requiredOf({ type }: Place, { algorithms, issuers, audiences }: Wanted): Requirements {
  return { algorithms, issuers, audiences, type: TYPED.has(type) ? type : null, expires: EXPIRING.has(type) };
}

function resultOf({ place, name }: FoundToken, token: Token): Value | EvalError {
  const header = valueOfPlain(token.header);
  if (header instanceof EvalError) return header;
  const payload = valueOfPlain(token.payload);
  if (payload instanceof EvalError) return payload;
  return {
    header,
    payload,
    location: place.method,
    location_property: name,
    signature: token.signatureText,
    verified: true,
  };
}
