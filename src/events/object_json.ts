// Generated from fields.ts by `npm run generate`; do not edit.
import type { HttpRequestComplete, TcpConnectionClosed } from './catalogue.ts';
import { headersJson, logsJson, quoted } from './json_values.ts';

/** The JSON text of the `object` of `http_request_complete.v0`. */
export function httpRequestCompleteJson(object: HttpRequestComplete): string {
  const {
    backend,
    basic_auth,
    circuit_breaker,
    compression,
    conn,
    http,
    ip_policy,
    oauth,
    tls,
    traffic_policy,
    webhook_verification,
  } = object;
  const { request, response } = http;
  const { url } = request;
  const { user } = oauth;
  const { client_cert } = tls;
  const { subject } = client_cert;
  return (
    `{"backend":{"connection_reused":${backend.connection_reused}}` +
    `,"basic_auth":{"decision":"${basic_auth.decision}"` +
    `,"username":${quoted(basic_auth.username)}}` +
    `,"circuit_breaker":{"decision":"${circuit_breaker.decision}"}` +
    `,"compression":{"algorithm":"${compression.algorithm}"` +
    `,"bytes_saved":${compression.bytes_saved}}` +
    `,"conn":{"client_ip":"${conn.client_ip}"` +
    `,"server_ip":${quoted(conn.server_ip)}` +
    `,"server_name":${quoted(conn.server_name)}` +
    `,"server_port":${conn.server_port}` +
    `,"start_ts":"${conn.start_ts}"}` +
    `,"http":{"request":{"body_length":${request.body_length}` +
    `,"headers":${headersJson(request.headers)}` +
    `,"method":${quoted(request.method)}` +
    `,"url":{"host":${quoted(url.host)}` +
    `,"path":${quoted(url.path)}` +
    `,"query":${quoted(url.query)}` +
    `,"raw":${quoted(url.raw)}` +
    `,"scheme":"${url.scheme}"}` +
    `,"user_agent":${quoted(request.user_agent)}}` +
    `,"response":{"body_length":${response.body_length}` +
    `,"headers":${headersJson(response.headers)}` +
    `,"status_code":${response.status_code}}}` +
    `,"ip_policy":{"decision":"${ip_policy.decision}"}` +
    `,"oauth":{"app_client_id":${quoted(oauth.app_client_id)}` +
    `,"decision":"${oauth.decision}"` +
    `,"user":{"id":${quoted(user.id)}` +
    `,"name":${quoted(user.name)}}}` +
    `,"tls":{"cipher_suite":${quoted(tls.cipher_suite)}` +
    `,"client_cert":{"serial_number":${quoted(client_cert.serial_number)}` +
    `,"subject":{"cn":${quoted(subject.cn)}}}` +
    `,"version":${quoted(tls.version)}}` +
    `,"traffic_policy":{"logs":${logsJson(traffic_policy.logs)}}` +
    `,"webhook_verification":{"decision":"${webhook_verification.decision}"}}`
  );
}

/** The JSON text of the `object` of `tcp_connection_closed.v0`. */
export function tcpConnectionClosedJson(object: TcpConnectionClosed): string {
  const { conn, ip_policy, traffic_policy } = object;
  return (
    `{"conn":{"bytes_in":${conn.bytes_in}` +
    `,"bytes_out":${conn.bytes_out}` +
    `,"client_ip":"${conn.client_ip}"` +
    `,"end_ts":"${conn.end_ts}"` +
    `,"server_ip":${quoted(conn.server_ip)}` +
    `,"server_name":${quoted(conn.server_name)}` +
    `,"server_port":${conn.server_port}` +
    `,"start_ts":"${conn.start_ts}"}` +
    `,"ip_policy":{"decision":"${ip_policy.decision}"}` +
    `,"traffic_policy":{"logs":${logsJson(traffic_policy.logs)}}}`
  );
}
