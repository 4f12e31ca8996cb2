import * as z from 'zod';
import { enabled } from '../module_fields_schema.ts';

export const websocketTcpConverter = z
  .strictObject({ enabled })
  .describe('Connects WebSocket messages to a TCP connection to the backend.');

export type WebsocketTcpConverterConfig = z.output<typeof websocketTcpConverter>;
