import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  DENIED_AGENTS,
  DENIED_CLIENT,
  DENIED_RANGES,
  REQUEST_EDITS,
  RESPONSE_EDITS,
} from './everything_on.ts';

/** Where a server listens and forwards to, and its folder. */
export interface Site {
  readonly port: number;
  /** 0: no TLS. */
  readonly tlsPort: number;
  readonly upstreamPort: number;
  readonly folder: string;
  readonly certificate: string;
  readonly key: string;
}

const each = <Value>(
  values: Readonly<Record<string, Value>>,
  line: (name: string, value: Value) => string,
): string =>
  Object.entries(values)
    .map(([name, value]) => line(name, value))
    .join('\n');

/**
 * So many that an answer of 100 kB fits: with its own eight of 4 kB nginx writes the rest to a file and reads it again,
 * which doubles its CPU time for such answers.
 */
const NGINX_BUFFERS = 'proxy_buffers 16 16k; proxy_busy_buffers_size 64k;';

/** Writes nginx's configuration and gives the arguments that run it. */
export function nginxArguments(
  site: Site,
  allOn: boolean,
  { buffers = NGINX_BUFFERS, processes = 1 }: { readonly buffers?: string; readonly processes?: number } = {},
): string[] {
  const file = join(site.folder, 'nginx.conf');
  const tls =
    site.tlsPort === 0
      ? ''
      : `listen 127.0.0.1:${site.tlsPort} ssl http2; ssl_certificate ${site.certificate}; ssl_certificate_key ${site.key}; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:s:10m;`;
  writeFileSync(
    file,
    `${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes ${processes};
daemon off;
pid ${site.folder}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 20000; }
http {
  client_body_temp_path ${site.folder}/body; proxy_temp_path ${site.folder}/proxy;
  fastcgi_temp_path ${site.folder}/f; uwsgi_temp_path ${site.folder}/u; scgi_temp_path ${site.folder}/s;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  client_body_buffer_size 64k;
  proxy_max_temp_file_size 0;
  upstream app { server 127.0.0.1:${site.upstreamPort}; keepalive 256; keepalive_requests 1000000000; }
  ${allOn ? nginxMaps(site.folder) : 'access_log off;'}
  server {
    listen 127.0.0.1:${site.port} backlog=4096;
    ${tls}
    ${allOn ? nginxModules() : ''}
    ${buffers}
    proxy_http_version 1.1;
    proxy_set_header Connection "";
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto $scheme;
    proxy_set_header X-Forwarded-Host $http_host;
    location / { proxy_pass http://app; }
    # Otherwise, content of a MiB is written to a file before the upstream gets it.
    location /unbuffered { proxy_request_buffering off; proxy_pass http://app; }
  }
}
`,
  );
  return ['-c', file, '-p', site.folder, '-e', 'stderr'];
}

function nginxMaps(folder: string): string {
  const ranges = [...DENIED_RANGES, `${DENIED_CLIENT}/32`].map((range) => `    ${range} 1;`).join('\n');
  const agents = DENIED_AGENTS.map((pattern) => `    "~${pattern}" 1;`).join('\n');
  const logged = [
    'time_iso8601',
    'remote_addr',
    'server_addr',
    'server_port',
    'request_method',
    'scheme',
    'host',
    'request_uri',
    'http_user_agent',
    'http_accept',
    'http_accept_encoding',
    'http_cookie',
    'status',
    'body_bytes_sent',
    'request_length',
    'request_time',
    'upstream_response_time',
    'upstream_addr',
    'gzip_ratio',
    'sent_http_content_type',
    'sent_http_content_length',
  ];
  return `geo $denied_range { default 0;\n${ranges}\n  }
  map $http_user_agent $denied_agent { default 0;\n${agents}\n  }
  gzip on; gzip_comp_level 1; gzip_min_length 0; gzip_types text/plain; gzip_proxied any; gzip_vary on;
  log_format event escape=json '{${logged.map((name) => `"${name}":"$${name}"`).join(',')}}';
  access_log ${folder}/events.ndjson event buffer=64k flush=1s;`;
}

function nginxModules(): string {
  return `if ($denied_range) { return 403; }
      if ($denied_agent) { return 403; }
      ${each(REQUEST_EDITS.add, (name, value) => `proxy_set_header ${name} ${value};`)}
      ${REQUEST_EDITS.remove.map((name) => `proxy_set_header ${name} "";`).join('\n')}
      ${each(RESPONSE_EDITS.add, (name, value) => `add_header ${name} "${value}";`)}
      ${RESPONSE_EDITS.remove.map((name) => `proxy_hide_header ${name};`).join('\n')}`;
}

/** Writes HAProxy's configuration and gives the arguments that run it. */
export function haproxyArguments(site: Site, allOn: boolean): string[] {
  const file = join(site.folder, 'haproxy.cfg');
  const together = join(site.folder, 'haproxy.ranges');
  writeFileSync(together, [...DENIED_RANGES, `${DENIED_CLIENT}/32`].join('\n'));
  writeFileSync(join(site.folder, 'haproxy.agents'), DENIED_AGENTS.join('\n'));
  const tls =
    site.tlsPort === 0
      ? ''
      : `bind 127.0.0.1:${site.tlsPort} ssl crt ${site.certificate}.both alpn h2,http/1.1`;
  writeFileSync(
    file,
    `global
  maxconn 9800
  fd-hard-limit 20000
  nbthread 1
  ${allOn ? 'log stdout format raw local0' : ''}
  tune.comp.maxlevel 1
defaults
  mode http
  timeout client 600s
  timeout server 60s
  timeout connect 5s
  timeout http-keep-alive 600s
  option http-keep-alive
  http-reuse always
  ${allOn ? 'log global' : ''}
frontend site
  bind 127.0.0.1:${site.port} backlog 4096
  ${tls}
  option forwardfor
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
  ${allOn ? haproxyModules(site.folder) : ''}
  default_backend app
backend app
  server one 127.0.0.1:${site.upstreamPort} pool-max-conn 256
`,
  );
  return ['-f', file];
}

function haproxyModules(folder: string): string {
  const logged = {
    time: '%T',
    client: '%ci',
    server: '%fi',
    port: '%fp',
    method: '%HM',
    uri: '%HU',
    host: '%[capture.req.hdr(0),json]',
    agent: '%[capture.req.hdr(1),json]',
    accept: '%[capture.req.hdr(2),json]',
    status: '%ST',
    bytes: '%B',
    received: '%U',
    ms: '%Ta',
    backend: '%s',
  };
  return `acl denied_range src -f ${folder}/haproxy.ranges
  acl denied_agent hdr_reg(user-agent) -f ${folder}/haproxy.agents
  http-request deny deny_status 403 if denied_range
  http-request deny deny_status 403 if denied_agent
  http-request capture req.hdr(host) len 64
  http-request capture req.hdr(user-agent) len 200
  http-request capture req.hdr(accept) len 100
  ${each(REQUEST_EDITS.add, (name, value) => `http-request set-header ${name} ${value}`)}
  ${REQUEST_EDITS.remove.map((name) => `http-request del-header ${name}`).join('\n  ')}
  ${each(RESPONSE_EDITS.add, (name, value) => `http-response set-header ${name} ${value}`)}
  ${RESPONSE_EDITS.remove.map((name) => `http-response del-header ${name}`).join('\n  ')}
  compression algo gzip
  compression type text/plain
  log-format '{${Object.entries(logged)
    .map(([name, value]) => `"${name}":"${value}"`)
    .join(',')}}'`;
}

/** Writes Caddy's configuration and gives the arguments that run it. */
export function caddyArguments(site: Site, allOn: boolean): string[] {
  const file = join(site.folder, 'Caddyfile');
  const all = `@range remote_ip ${[...DENIED_RANGES, `${DENIED_CLIENT}/32`].join(' ')}
  respond @range 403
  @agent header_regexp User-Agent ${JSON.stringify(DENIED_AGENTS.map((pattern) => `(?:${pattern})`).join('|'))}
  respond @agent 403
  encode {
    gzip 1
    minimum_length 1
    match {
      header Content-Type text/plain*
    }
  }
  header {
    ${each(RESPONSE_EDITS.add, (name, value) => `${name} "${value}"`)}
    ${RESPONSE_EDITS.remove.map((name) => `-${name}`).join('\n    ')}
  }
  log {
    output file ${site.folder}/events.ndjson
  }`;
  const edits = `${each(REQUEST_EDITS.add, (name, value) => `header_up ${name} ${value}`)}
    ${REQUEST_EDITS.remove.map((name) => `header_up -${name}`).join('\n    ')}`;
  const body = `${allOn ? all : ''}
  reverse_proxy 127.0.0.1:${site.upstreamPort} {
    ${allOn ? edits : ''}
    transport http {
      compression off
      keepalive_idle_conns_per_host 256
    }
  }`;
  const tls =
    site.tlsPort === 0
      ? ''
      : `https://:${site.tlsPort} {\n  bind 127.0.0.1\n  tls ${site.certificate} ${site.key}\n  ${body}\n}`;
  writeFileSync(
    file,
    `{\n  admin off\n  auto_https off\n  grace_period 1s\n  servers {\n    protocols h1 h2\n  }\n}\nhttp://:${site.port} {\n  bind 127.0.0.1\n  ${body}\n}\n${tls}\n`,
  );
  return ['run', '--adapter', 'caddyfile', '--config', file];
}
