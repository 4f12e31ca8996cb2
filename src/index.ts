/**
 * edgeproof as a library: `createEdge(config)` gives an edge that decides, explains and handles requests with the
 * pipeline that the command line and the live proxy use. See docs/life_of_a_request.md.
 */
export type { Adapters, ConnectMiddleware, FetchAppBehindEdge, VitePlugin } from './integrations/methods.ts';
export type { FetchApp } from './integrations/fetch.ts';
export { ConfigError, createEdge } from './edgeproof.ts';
export type { Decision, Edge, EdgeOptions, Handled } from './edgeproof.ts';
export type { SecretProvider, SecretSource } from './edge/secrets.ts';
export type { Diagnostic } from './diagnostics/diagnostic.ts';
export type { EdgeConfig } from './edge/document/schema.ts';
export type { Explanation, LocatedStep, StreamExplanation } from './edge/explain.ts';
export type { Answers, Reason, Connection, RequestHead, ResponseHead } from './engine/contract.ts';
export type { ClientFacts, RequestLike } from './engine/request_like.ts';
export type { Step } from './engine/trace.ts';
export type {
  HttpRequestComplete,
  HttpRequestCompleteEvent,
  TcpConnectionClosed,
  TcpConnectionClosedEvent,
} from './events/catalogue.ts';
export type { ListenOptions, TcpListenOptions, TlsListenOptions } from './listen_options.ts';
export type { Listening } from './listening.ts';
export { createSimulator } from './simulator/create_simulator.ts';
export type { SimulatedExchange, Simulator, SimulatorOptions } from './simulator/create_simulator.ts';
export type { ScriptedUpstream } from './engine/drivers/scripted.ts';
export { coverScenario, explainWhyNot } from './simulator/search/library.ts';
export type { CoveredScenario, WhyNotFound } from './simulator/search/library.ts';
export type { MeasuredPoint, PointKind } from './coverage/point.ts';
