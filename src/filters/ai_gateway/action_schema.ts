import * as z from 'zod';

export const aiGateway = z
  .looseObject({})
  .describe('Routes requests to language models. Recognised but not simulated: its fields are not checked.');

export type AiGatewayConfig = z.output<typeof aiGateway>;
