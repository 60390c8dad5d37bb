/**
 * The program that runs beside an agent CLI in its container: an address on the loopback that leads to the gateway's socket.
 *
 * 1. It adds nothing and hides nothing: bytes pass as they are, and the exit code is the agent's own.
 * 2. A gateway that starts again is waited for, so that an agent sees a slow answer and not a broken one.
 */

/** Where the gateway's socket appears in the container: a directory, so that it may be made anew behind it. */
export const EGRESS_DIR = '/run/egress';
export const FORWARDER_PORT = 8787;
export const GATEWAY_URL = `http://127.0.0.1:${FORWARDER_PORT}`;
/** Stands where a CLI insists on a key. The gateway drops it. */
export const NO_KEY = 'swarmline';

/**
 * For programs that take their base URL from the environment, as most SDKs do. OpenAI's has its version in it, Anthropic's has not.
 * The names are told in spec/check-engine.ts, too.
 */
export const gatewayEnvironment: Readonly<Record<string, string>> = {
  ANTHROPIC_BASE_URL: GATEWAY_URL,
  ANTHROPIC_API_KEY: NO_KEY,
  OPENAI_BASE_URL: `${GATEWAY_URL}/v1`,
  OPENAI_API_BASE: `${GATEWAY_URL}/v1`,
  OPENAI_API_KEY: NO_KEY,
};

/** `node forward.mjs PROGRAM ARGUMENT…`. Needs node in the image. */
export const FORWARDER = `import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
const SOCKET = '${EGRESS_DIR}/api.sock';
const reach = (client, tries) => {
  const socket = connect({ path: SOCKET, allowHalfOpen: true });
  socket.once('error', (error) => {
    if (socket.bytesWritten === 0 && tries > 0 && ['ENOENT', 'ECONNREFUSED'].includes(error.code)) setTimeout(reach, 250, client, tries - 1);
    else client.destroy();
  });
  socket.once('connect', () => {
    socket.on('error', () => client.destroy());
    client.on('error', () => socket.destroy());
    client.on('close', () => socket.destroy());
    socket.on('close', () => client.destroy());
    client.pipe(socket);
    socket.pipe(client);
  });
};
const server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (client) => {
  client.on('error', () => undefined);
  reach(client, 120);
});
server.listen(${FORWARDER_PORT}, '127.0.0.1', () => {
  const [program, ...args] = process.argv.slice(2);
  const child = spawn(program, args, { stdio: 'inherit' });
  child.on('error', (error) => {
    console.error(String(error));
    process.exit(127);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (({ SIGKILL: 9, SIGTERM: 15, SIGSEGV: 11, SIGABRT: 6 })[signal] ?? 1)));
});
`;
