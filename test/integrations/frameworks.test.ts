import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import type { AddressInfo } from 'node:net';
import { describe } from 'vitest';
import { behavesBehindAnEdge } from './contract.ts';
import { type Handler, LONG_TEXT, serving } from './edge.ts';

describe('an Express 5 application', () => {
  behavesBehindAnEdge(async (edge) => {
    const app = express();
    app.use(edge.express());
    app.use(express.text({ limit: '1mb' }));
    app.use((_request, response, next) => {
      response.setHeader('X-App', 'yes');
      next();
    });
    app.get('/long', (_request, response) => void response.type('text/plain').send(LONG_TEXT));
    app.get('/boom', (_request, response) => void response.status(500).send('boom'));
    app.all(['/v2/*rest', '/swap', '/echo'], (request, response) => {
      response.json({
        url: request.originalUrl,
        method: request.method,
        edge: request.get('x-edge') ?? null,
        secret: request.get('x-secret') ?? null,
        body: typeof request.body === 'string' ? request.body : '',
      });
    });
    return serving(app);
  });
});

describe('a Fastify 5 application', () => {
  behavesBehindAnEdge(async (edge) => {
    const app = fastify({ ...edge.fastify(), bodyLimit: 1_000_000 });
    app.addHook('onRequest', async (_request, reply) => void reply.header('X-App', 'yes'));
    app.get('/long', async (_request, reply) => reply.type('text/plain').send(LONG_TEXT));
    app.get('/boom', async (_request, reply) => reply.code(500).send('boom'));
    for (const url of ['/v2/*', '/swap', '/echo']) {
      app.all(url, (request, reply) =>
        reply.send({
          url: request.url,
          method: request.method,
          edge: request.headers['x-edge'] ?? null,
          secret: request.headers['x-secret'] ?? null,
          body: typeof request.body === 'string' ? request.body : '',
        }),
      );
    }
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as AddressInfo;
    return { url: `http://127.0.0.1:${port}`, close: () => app.close() };
  });
});

/** Hono's server for Node, as a plain handler. */
function listener(answer: (request: Request) => Response | Promise<Response>): Handler {
  const listen = getRequestListener(answer);
  return (request, response) => void listen(request, response);
}

function honoApp(): Hono {
  const app = new Hono();
  app.use(async (context, next) => {
    await next();
    context.header('X-App', 'yes');
  });
  app.get('/long', (context) => context.text(LONG_TEXT));
  app.get('/boom', (context) => context.text('boom', 500));
  for (const url of ['/v2/*', '/swap', '/echo']) {
    app.all(url, async (context) => {
      const { pathname, search } = new URL(context.req.url);
      return context.json({
        url: pathname + search,
        method: context.req.method,
        edge: context.req.header('x-edge') ?? null,
        secret: context.req.header('x-secret') ?? null,
        body: await context.req.text(),
      });
    });
  }
  return app;
}

describe('a Hono 4 application on Node', () => {
  behavesBehindAnEdge((edge) => serving(edge.node(listener(honoApp().fetch))));
});

describe('a Hono 4 application by its fetch', () => {
  behavesBehindAnEdge((edge) => serving(listener((request) => edge.hono(honoApp()).fetch(request))));
});
