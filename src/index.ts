/**
 * edgeproof as a library: `createEdge(config)` gives an edge that decides, explains and handles requests with the
 * pipeline that the command line and the live proxy use. See docs/life_of_a_request.md.
 */
export type { Adapters, ConnectMiddleware, FetchAppBehindEdge, VitePlugin } from './integrations/methods.ts';
export type { FetchApp } from './integrations/fetch.ts';
export { check, createEdge, defineEdge, defineScenario, loadEdge } from './definitions.ts';
export type { CheckInput } from './definitions.ts';
export { ConfigError } from './edgeproof.ts';
export type { Decision, Edge, EdgeOptions, Handled } from './edgeproof.ts';
export type { SecretProvider, SecretSource } from './edge/secrets.ts';
export type { Diagnostic, Source } from './diagnostics/diagnostic.ts';
export { renderDiagnostics } from './diagnostics/render.ts';
export type { EdgeConfig, EdgeConfigInput } from './edge/document/schema.ts';
export type { Explanation, LocatedStep, RequestSummary, StreamExplanation } from './edge/explain.ts';
export type { Reason, Connection, RequestHead, ResponseHead } from './engine/contract.ts';
export type { Answers } from './engine/questions.ts';
export type { ClientFacts, RequestLike } from './engine/request_like.ts';
export type { Step } from './engine/trace.ts';
export type {
  HttpRequestComplete,
  HttpRequestCompleteEvent,
  TcpConnectionClosed,
  TcpConnectionClosedEvent,
} from './events/catalogue.ts';
export type {
  InspectorListenOptions,
  ListenOptions,
  TcpListenOptions,
  TlsListenOptions,
} from './listen_options.ts';
export type { Listening } from './listening.ts';
export type { ScenarioInput } from './simulator/document/schema.ts';
export type { Surrounding as CheckOptions } from './project_files/load_config.ts';
export { createSimulator } from './simulator/create_simulator.ts';
export type { SimulatorNodes, SimulatorOfNodes } from './simulator/nodes/of_simulator.ts';
export type { NodesReport } from './simulator/nodes/report.ts';
export type { SimulatedExchange, Simulator, SimulatorOptions } from './simulator/create_simulator.ts';
export type { ScriptedUpstream } from './engine/drivers/scripted.ts';
export { coverScenario, explainWhyNot } from './simulator/search/library.ts';
export type { CoveredScenario, WhyNotFound } from './simulator/search/library.ts';
export type { MeasuredPoint, PointKind } from './coverage/point.ts';
export { diff } from './analysis/blame.ts';
export type { Blame, ChangedRegion, Comparison, RegionSize, UndecidedRegion } from './analysis/comparison.ts';
export type { Compared } from './analysis/diff.ts';
export type { Witness } from './analysis/witness.ts';
export { findings } from './analysis/findings.ts';
export type { AnalysisFinding } from './analysis/findings.ts';
export type { FindingOptions } from './analysis/setting_findings.ts';
export { prove } from './analysis/prove.ts';
export type { Proof, Property } from './analysis/prove.ts';
export { readyProperty } from './analysis/ready_properties.ts';
export type { ReadyParameters, ReadyPropertyName } from './analysis/ready_properties.ts';
export { classesOf as classes } from './analysis/classes.ts';
export type { RequestClass } from './analysis/classes.ts';
export { mutate } from './project_files/mutate.ts';
export type { Mutated, MutationOptions, MutationResult, Survivor } from './project_files/mutate.ts';
