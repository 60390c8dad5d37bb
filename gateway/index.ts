/** The room's public surface. */
export { createGatewayClient, GatewayAway } from './control.ts';
export type { GatewayClient } from './control.ts';
export { controlPath, startGateway } from './gateway.ts';
export type { Gateway, GatewayOptions } from './gateway.ts';
export { createMcp } from './mcp.ts';
export type { Waiting } from './places.ts';
export type { Decision, LogLine, Notice, ToolPort } from './tools.ts';
export { SOCKET } from './sockets.ts';
export * from './types.ts';
