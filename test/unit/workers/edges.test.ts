import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { RepositoryError } from '../../../mainline/errors.ts';
import { admissionSlots } from '../../../workers/admission-slots.ts';
import { credentialsIn } from '../../../workers/credentials.ts';
import { notify } from '../../../workers/notify.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'swarmline-edges-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const MESSAGE = { run: 'r1', event: 'blocked', text: 'a is blocked' };

describe('notifications', () => {
  test("a command gets the message in its environment, and none of the worker's secrets", async () => {
    const out = join(dir, 'out');
    process.env['SWARMLINE_HUB_TOKEN'] = 'secret-of-the-worker';
    try {
      await notify({ run: ['sh', '-c', `env > ${out}`], webhook: null }, MESSAGE);
    } finally {
      delete process.env['SWARMLINE_HUB_TOKEN'];
    }
    const env = readFileSync(out, 'utf8');
    expect(env).toContain('SWARMLINE_EVENT=blocked');
    expect(env).toContain('SWARMLINE_TEXT=a is blocked');
    expect(env).not.toContain('secret-of-the-worker');
  });

  test('a webhook gets it as JSON; an answer that is no success is thrown, to be tried again', async () => {
    const bodies: string[] = [];
    const server = createServer((request, response) => {
      request.setEncoding('utf8');
      let body = '';
      request.on('data', (chunk: string) => (body += chunk));
      request.on('end', () => {
        bodies.push(body);
        response.writeHead(request.url === '/ok' ? 204 : 500).end();
      });
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await notify({ run: null, webhook: `${base}/ok` }, MESSAGE);
    await expect(notify({ run: null, webhook: `${base}/no` }, MESSAGE)).rejects.toThrow('500');
    server.close();
    expect(JSON.parse(bodies[0]!)).toEqual(MESSAGE);
  });

  test('a command that fails is thrown, to be tried again', async () => {
    await expect(notify({ run: ['false'], webhook: null }, MESSAGE)).rejects.toThrow('Command failed');
  });
});

describe('credentials', () => {
  test('a name without a file says where the file belongs, and a name is never a path', async () => {
    const credential = credentialsIn(dir, join(dir, 'known_hosts'));
    await expect(credential('deploy', 'https://example.org/x.git')).rejects.toThrow(RepositoryError);
    await expect(credential('../deploy', 'https://example.org/x.git')).rejects.toThrow(RepositoryError);
    await expect(credentialsIn(null, 'x')('deploy', 'https://example.org/x.git')).rejects.toThrow(
      'SWARMLINE_CREDENTIALS',
    );
  });

  test('what a file holds becomes environment for git, never an argument', async () => {
    writeFileSync(join(dir, 'deploy'), 'token-1\n');
    const env = await credentialsIn(dir, join(dir, 'known_hosts'))('deploy', 'https://example.org/x.git');
    expect(Object.values(env ?? {}).join(' ')).toContain(Buffer.from('x-access-token:token-1').toString('base64'));
    expect(await credentialsIn(dir, 'x')(null, 'https://example.org/x.git')).toBeNull();
  });
});

describe('slots of a sandbox host', () => {
  const context = {
    slotType: 'activity',
    taskQueue: 'q',
    workerIdentity: 'w',
    workerBuildId: '',
    isSticky: false,
  } as const;

  test('no more are given than there are, and a released one is given again', async () => {
    const slots = admissionSlots({ admission: () => Promise.resolve({ ok: true }) }, 2, () => undefined);
    const never = new AbortController();
    const permits = await Promise.all([
      slots.reserveSlot(context, never.signal),
      slots.reserveSlot(context, never.signal),
    ]);
    const third = slots.reserveSlot(context, never.signal);
    slots.releaseSlot({ permit: permits[0]! });
    expect(await third).toEqual({});
    const gone = new AbortController();
    const fourth = slots.reserveSlot(context, gone.signal);
    gone.abort();
    await expect(fourth).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('a host that cannot hold another container takes no work, says why once, and takes it when it can', async () => {
    let room = false;
    const said: string[] = [];
    const slots = admissionSlots(
      { admission: () => Promise.resolve(room ? { ok: true } : { ok: false, why: 'memory' }) },
      5,
      (why) => {
        said.push(why);
        room = true;
      },
    );
    await slots.reserveSlot(context, new AbortController().signal);
    expect(said).toEqual(['memory']);
  });
});
